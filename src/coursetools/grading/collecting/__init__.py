"""What was handed in, by whom and when: from a platform's files into the class's folders."""
