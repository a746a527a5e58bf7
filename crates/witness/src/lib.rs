//! Schedules that show a prediction, and a checker of them that trusts nobody.
