"""The published studies' numbers, recounted: what they print beside what their data give."""
