"""The probe: reads a note by rule and says whether what it concludes can still be corrected."""
