"""What every test shares: helpers' assertions tell the values that they found."""

import pytest

pytest.register_assert_rewrite("package_tools", "checkout")
