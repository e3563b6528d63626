/** Answers on the disk: complete or absent, readable only by the owner, within a cap, and never deleted. */
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { TransientError, UsageError } from '../../src/errors.ts';
import { openSpool, spoolCounts } from '../../src/recovery/spool/files.ts';
import type { SpooledAnswer } from '../../src/recovery/spool/header.ts';

async function folderOf(): Promise<string> {
  const parent = await mkdtemp(join(tmpdir(), 'sluice-spool-'));
  onTestFinished(() => rm(parent, { recursive: true, force: true }));
  return join(parent, 'below', 'spool');
}

const answer = (more: Partial<SpooledAnswer> = {}): SpooledAnswer => ({
  requestId: '17',
  runId: '3',
  sync: 'filings',
  xRequestId: '6f0f4a3e-8d0a-4b7e-9a57-0d3c1f6f9b11',
  status: 200,
  headers: { 'x-note': 'zoë\u2028"', 'content-type': 'application/json' },
  receivedAt: new Date('2026-03-06T15:00:00.123Z'),
  tookMs: 41,
  body: Buffer.from('[{"a":1}]\n\n\0\xff', 'latin1'),
  ...more,
});

const modeOf = async (path: string): Promise<number> => (await stat(path)).mode & 0o777;

describe('an answer in the spool', () => {
  it('is read as it was, byte for byte', async () => {
    const spool = openSpool({ folder: await folderOf() });
    const given = answer();
    await spool.keep(given);
    const { answers, damaged } = await openSpool({ folder: spool.folder }).waiting();
    expect(damaged).toEqual([]);
    const { body, ...head } = given;
    expect(answers).toMatchObject([head]);
    expect(Buffer.from((await spool.bodyOf(answers[0] as never)) as Uint8Array).equals(body)).toBe(true);
  });

  it('is readable only by its owner, whatever the folder was before', async () => {
    const folder = await folderOf();
    await mkdir(folder, { recursive: true });
    await chmod(folder, 0o777);
    await openSpool({ folder }).keep(answer());
    const [file = ''] = await readdir(folder);
    expect([await modeOf(folder), await modeOf(join(folder, file))]).toEqual([0o700, 0o600]);
  });

  it('does not close a folder to others that holds their files, and is not kept where others can write', async () => {
    const folder = await folderOf();
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'of-others'), '');
    await chmod(folder, 0o755);
    await openSpool({ folder }).keep(answer());
    expect(await modeOf(folder)).toBe(0o755);
    await chmod(folder, 0o1777);
    const reason = 'other users can write to it, and it holds files that are no answers';
    await expect(openSpool({ folder }).keep(answer({ requestId: '18' }))).rejects.toThrow(reason);
    await expect(openSpool({ folder }).prepare('an-id')).rejects.toThrow(reason);
    expect(await modeOf(folder)).toBe(0o777);
  });

  it('stored twice is there once; another one of the same request is there too', async () => {
    const spool = openSpool({ folder: await folderOf() });
    await spool.keep(answer());
    await spool.keep(answer());
    expect(await spoolCounts(spool.folder)).toEqual({ waiting: 1, damaged: 0 });
    await spool.keep(answer({ body: Buffer.from('[]') }));
    expect(await spoolCounts(spool.folder)).toEqual({ waiting: 2, damaged: 0 });
  });

  it('comes in the order of receipt', async () => {
    const spool = openSpool({ folder: await folderOf() });
    for (const second of [30, 10, 20])
      await spool.keep(answer({ requestId: String(second), receivedAt: new Date(Date.UTC(2026, 0, 1, 0, 0, second)) }));
    expect((await spool.waiting()).answers.map(({ requestId }) => requestId)).toEqual(['10', '20', '30']);
  });

  it('that was taken in is gone, also when another process took it', async () => {
    const spool = openSpool({ folder: await folderOf() });
    await spool.keep(answer());
    const [waiting] = (await spool.waiting()).answers;
    if (!waiting) throw new Error('nothing waits');
    await spool.drop(waiting);
    expect(await readdir(spool.folder)).toEqual([]);
    expect(await spool.bodyOf(waiting)).toBe('gone');
    await spool.drop(waiting);
  });

  it('may be empty, and may be large', async () => {
    const spool = openSpool({ folder: await folderOf() });
    const large = Buffer.alloc(30_000_000, 'x');
    await spool.keep(answer({ requestId: '1', body: Buffer.alloc(0) }));
    await spool.keep(answer({ requestId: '2', body: large }));
    const bodies = await Promise.all((await spool.waiting()).answers.map(spool.bodyOf));
    expect(bodies.map((it) => (it as Uint8Array).byteLength)).toEqual([0, large.length]);
  });
});

describe('a spool', () => {
  it('that was never used is empty', async () => {
    const folder = await folderOf();
    expect(await openSpool({ folder }).waiting()).toEqual({ answers: [], damaged: [] });
    expect(await spoolCounts(folder)).toEqual({ waiting: 0, damaged: 0 });
  });

  it('that is full says so and takes no more; what was set aside counts', async () => {
    const spool = openSpool({ folder: await folderOf(), capBytes: 2000 });
    await spool.keep(answer({ body: Buffer.alloc(1000, 'x') }));
    const more = spool.keep(answer({ requestId: '18', body: Buffer.alloc(1000, 'y') }));
    await expect(more).rejects.toThrow(TransientError);
    await expect(more).rejects.toThrow(
      /^the spool \S+ can’t take the answer: it holds \d+ bytes, this answer has \d+, and 2000 is the most$/,
    );
    await expect(more).rejects.toMatchObject({ next: expect.stringContaining('SLUICE_SPOOL') });
    expect(await spoolCounts(spool.folder)).toEqual({ waiting: 1, damaged: 0 });
    // One that failed does not stand in the way of the next.
    await spool.keep(answer({ requestId: '19', body: Buffer.alloc(10) }));
  });

  it('keeps to its cap when many answers come at once', async () => {
    const spool = openSpool({ folder: await folderOf(), capBytes: 5000 });
    const kept = Array.from({ length: 10 }, (_, id) =>
      spool.keep(answer({ requestId: String(id), body: Buffer.alloc(1000, String(id)) })),
    );
    const ends = await Promise.allSettled(kept);
    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
    expect(await spoolCounts(spool.folder)).toEqual({ waiting: 3, damaged: 0 });
  });

  it('where nothing can be written says so', async () => {
    const folder = await folderOf();
    await mkdir(join(folder, '..'), { recursive: true });
    await writeFile(folder, 'a file in its place');
    await expect(openSpool({ folder }).keep(answer())).rejects.toThrow(TransientError);
    await expect(spoolCounts(folder)).rejects.toThrow(UsageError);
  });

  it.each([
    ['a cut head', (path: string) => truncate(path, 40)],
    ['no content', (path: string) => truncate(path, 0)],
    ['a head that is no JSON', (path: string) => writeFile(path, 'hello\n[]')],
    ['a head of another kind', (path: string) => writeFile(path, 'null\n[]')],
    ['a head without its request', (path: string) => writeFile(path, '{"format":1,"sync":"x"}\n[]')],
    ['a file of a later format', (path: string) => writeFile(path, '{"format":2}\n[]')],
  ])('renames a file that has %s, and returns its name', async (_, spoil) => {
    const spool = openSpool({ folder: await folderOf() });
    await spool.keep(answer());
    await spool.keep(answer({ requestId: '18', receivedAt: new Date('2026-03-06T16:00:00Z') }));
    const [file = ''] = await readdir(spool.folder);
    await spoil(join(spool.folder, file));
    const spoilt = await readFile(join(spool.folder, file));

    const { answers, damaged } = await spool.waiting();

    expect(damaged).toEqual([file]);
    expect(answers.map(({ requestId }) => requestId)).toEqual(['18']);
    expect((await readFile(join(spool.folder, `${file}.damaged`))).equals(spoilt)).toBe(true);
    expect(await spool.waiting()).toMatchObject({ damaged: [] });
    expect(await spoolCounts(spool.folder)).toEqual({ waiting: 1, damaged: 1 });
  });

  it.each([
    ['cut', (path: string, size: number) => truncate(path, size - 1)],
    ['longer', async (path: string) => writeFile(path, 'x', { flag: 'a' })],
    ['other', async (path: string, size: number) => writeFile(path, (await readFile(path)).fill('y', size - 1))],
  ])('sets an answer aside whose body is %s', async (_, spoil) => {
    const spool = openSpool({ folder: await folderOf() });
    await spool.keep(answer());
    const [file = ''] = await readdir(spool.folder);
    const path = join(spool.folder, file);
    await spoil(path, (await stat(path)).size);
    const [waiting] = (await spool.waiting()).answers;
    expect(await spool.bodyOf(waiting as never)).toBe('damaged');
    expect(await readdir(spool.folder)).toEqual([`${file}.damaged`]);
  });

  it('leaves what a process was writing when it died, and counts it', async () => {
    const spool = openSpool({ folder: await folderOf() });
    await spool.keep(answer());
    await writeFile(join(spool.folder, 'half.answer.partial'), '{"form');
    expect(await spool.waiting()).toMatchObject({ answers: [{ requestId: '17' }], damaged: [] });
    expect(await spoolCounts(spool.folder)).toEqual({ waiting: 1, damaged: 1 });
  });
});
