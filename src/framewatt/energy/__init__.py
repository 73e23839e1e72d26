"""From readings and events to joules, with their uncertainty."""
