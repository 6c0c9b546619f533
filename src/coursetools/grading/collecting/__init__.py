"""What was submitted, by whom and when: from a platform's files into the class's folders."""
