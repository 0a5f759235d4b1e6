"""What a checkpoint's files mean: named bytes in, ``Checkpoint`` out. No I/O."""
