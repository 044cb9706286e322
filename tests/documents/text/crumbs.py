"""Content in chunks of any size, to see that their borders make no difference."""

from jupyter_fstools.content.source import BytesContent


class Crumbs(BytesContent):
    """Content that comes in chunks of so many bytes, in turn."""

    def __init__(self, data, sizes):
        super().__init__(data)
        self.sizes = sizes

    def chunks(self, start=0, end=None):
        end = len(self.data) if end is None else min(end, len(self.data))
        turn = 0
        while start < end:
            turn += 1
            step = min(self.sizes[turn % len(self.sizes)], end - start)
            yield self.data[start : start + step]
            start += step
