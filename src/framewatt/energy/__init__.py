"""From readings and events to joules, with what is not known of them."""
