"""The lecture notebooks: what they import (`imports`), how they run (`run`), their form (`lint`)."""
