import { DISK_RESERVE_BYTES, SpaceGuard, StoreFullError, type Shortage, type SpaceReading } from './space-guard';

const MIB = 1024 * 1024;

describe('the guard of a store’s space', () => {
  let reading: { -readonly [Name in keyof SpaceReading]: SpaceReading[Name] };
  let nowMs: number;
  let readings: number;
  let told: (Shortage['cause'] | 'space')[];
  let guard: SpaceGuard;

  beforeEach(() => {
    reading = { file: 2 * MIB, inUse: 2 * MIB, diskFree: Infinity };
    nowMs = 1_000;
    readings = 0;
    told = [];
    guard = new SpaceGuard('/data/registry.mdb', {
      quotaBytes: 100 * MIB,
      measure: () => {
        readings++;
        return { ...reading };
      },
      now: () => nowMs,
      onChange: (shortage) => told.push(shortage?.cause ?? 'space'),
    });
  });

  /** Writes that are on the disk at once, until one is refused; returns how many were not. */
  const fill = (valueBytes: number, most = 100_000): number => {
    for (let count = 0; count < most; count++) {
      try {
        const bytes = guard.admit(valueBytes);
        reading.inUse += bytes;
        reading.file = Math.max(reading.file, reading.inUse);
        guard.settled(bytes, true);
      } catch {
        return count;
      }
    }
    return most;
  };

  const refusal = (): StoreFullError => {
    try {
      guard.admit(1);
    } catch (error) {
      return error as StoreFullError;
    }
    throw new Error('it was admitted');
  };

  it('admits writes up to the quota, and measures little for them', () => {
    const count = fill(100_000);
    expect(reading.inUse).toBeGreaterThan(99 * MIB);
    expect(reading.inUse).toBeLessThanOrEqual(100 * MIB);
    expect(count).toBeGreaterThan(900);
    expect(readings).toBeLessThan(10);
    expect(() => guard.admit(1)).toThrow(StoreFullError);
    expect(() => guard.admit(1)).toThrow('the quota of 100 MiB is used up');
    expect(told).toEqual(['quota']);
  });

  it('counts what is on its way to the disk, which no reading shows', () => {
    let admitted = 0;
    expect(() => {
      for (;;) admitted += guard.admit(1_000_000);
    }).toThrow(StoreFullError);
    expect(admitted).toBeLessThanOrEqual(98 * MIB);
  });

  it('tells clients what etcd would', () => {
    reading.inUse = 100 * MIB;
    const { publicMessage, isOutOfSpace } = refusal();
    expect({ publicMessage, isOutOfSpace }).toEqual({
      publicMessage: 'etcdserver: mvcc: database space exceeded',
      isOutOfSpace: true,
    });
  });

  it('takes writes again by itself when some of the quota is free, and says each change once', () => {
    fill(100_000);
    reading.inUse = 97 * MIB;
    nowMs += 1_000;
    expect(() => guard.admit(1)).toThrow(StoreFullError);
    reading.inUse = 90 * MIB;
    nowMs += 1_000;
    expect(fill(1, 3)).toBe(3);
    expect(told).toEqual(['quota', 'space']);
  });

  it('looks for space now and then only, however many writes are refused', () => {
    reading.inUse = 100 * MIB;
    for (let count = 0; count < 1_000; count++) expect(() => guard.admit(1)).toThrow(StoreFullError);
    expect(readings).toBe(1);
  });

  it('keeps back some of the disk, and knows that others fill it too', () => {
    reading.diskFree = 10 * MIB;
    expect(fill(1, 3)).toBe(3);
    reading.diskFree = DISK_RESERVE_BYTES;
    nowMs += 1_000;
    expect(() => guard.admit(1)).toThrow('its disk is full (1 MiB are free');
    expect(refusal().publicMessage).toBe('etcdserver: mvcc: database space exceeded: the disk is full');
    // Pages of the file that hold nothing are as good as those of the disk.
    reading.file = 40 * MIB;
    nowMs += 1_000;
    expect(fill(1, 3)).toBe(3);
    expect(told).toEqual(['disk', 'space']);
  });

  it('is full of a write for which the disk has no room until there is room for any, whoever looks', () => {
    reading.diskFree = DISK_RESERVE_BYTES + 100_000;
    expect(() => guard.admit(200_000)).toThrow('its disk is full');
    for (const moreBytes of [0, 100_000, 3 * MIB]) {
      reading.diskFree = DISK_RESERVE_BYTES + 100_000 + moreBytes;
      guard.look();
      expect(guard.shortage?.cause).toBe('disk');
      nowMs += 1_000;
      expect(() => guard.admit(1)).toThrow(StoreFullError);
    }
    reading.diskFree = DISK_RESERVE_BYTES + 5 * MIB;
    guard.look();
    expect(guard.shortage).toBeUndefined();
    expect(fill(3 * MIB, 1)).toBe(1);
    expect(told).toEqual(['disk', 'space']);
  });

  it('believes a commit that failed more than its reading, until one succeeds', () => {
    const first = guard.admit(1);
    guard.settled(first, false);
    expect(guard.failed('File too large').message).toContain('cannot be written: File too large');
    guard.look();
    expect(guard.shortage?.cause).toBe('disk');
    expect(() => guard.admit(1)).toThrow(StoreFullError);
    nowMs += 1_000;
    expect(guard.needsTrial).toBe(true);
    const trial = guard.admit(1);
    expect(() => guard.admit(1)).toThrow(StoreFullError);
    guard.settled(trial, true);
    expect(guard.shortage).toBeUndefined();
    expect(told).toEqual(['disk', 'space']);
  });
});
