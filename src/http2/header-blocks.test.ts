import { Flag, FrameType } from './frames';
import { HeaderBlocks } from './header-blocks';

const bytes = (text: string): Buffer => Buffer.from(text);

describe('the header blocks of a connection', () => {
  it('are one frame or several', () => {
    const blocks = new HeaderBlocks(100);
    const whole = blocks.begin(Flag.END_HEADERS | Flag.END_STREAM, 1, bytes('abc'));
    expect(whole).toEqual({ streamId: 1, isLast: true, bytes: bytes('abc') });
    const piece = bytes('de');
    expect(blocks.begin(0, 3, piece)).toBeUndefined();
    piece.fill(0);
    expect(blocks.isOpen).toBe(true);
    expect(blocks.goOn(0, 3, bytes(''))).toBeUndefined();
    expect(blocks.goOn(Flag.END_HEADERS, 3, bytes('f'))).toEqual({ streamId: 3, isLast: false, bytes: bytes('def') });
    expect(blocks.isOpen).toBe(false);
  });

  it('have nothing between their frames', () => {
    const blocks = new HeaderBlocks(100);
    blocks.checkOrder(FrameType.DATA);
    blocks.begin(0, 1, bytes('a'));
    blocks.checkOrder(FrameType.CONTINUATION);
    expect(() => blocks.checkOrder(FrameType.DATA)).toThrow('a header block has no end');
    expect(() => blocks.goOn(0, 3, bytes('b'))).toThrow('that nobody began');
  });

  it('do not go on for ever', () => {
    const large = new HeaderBlocks(3);
    large.begin(0, 1, bytes('ab'));
    expect(() => large.goOn(Flag.END_HEADERS, 1, bytes('cd'))).toThrow('too large');
    expect(() => large.begin(0, 1, bytes('abcd'))).toThrow('too large');
    const empty = new HeaderBlocks(3);
    empty.begin(0, 1, bytes(''));
    for (let frame = 2; frame <= 16; frame++) expect(empty.goOn(0, 1, bytes(''))).toBeUndefined();
    expect(() => empty.goOn(0, 1, bytes(''))).toThrow('too large');
  });
});
