/** The program on a version of Node: it runs, or says at once which one it needs. */
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { tooOld } from '../../src/cli/node-version.js';

describe('a version of Node', () => {
  it('that is too old is refused with the version found and the one allowed', () => {
    for (const version of ['v18.20.0', 'v20.20.2', 'v22.12.0', 'v23.11.1'])
      expect(tooOld(version)).toMatch(
        new RegExp(`^sluice: Node is ${version}; allowed is v24 or newer\\.\\nInstall Node 24`),
      );
    for (const version of ['v24.0.0', 'v26.1.0', process.version]) expect(tooOld(version)).toBeUndefined();
  });

  it('is checked against the one that package.json names', async () => {
    const { engines } = JSON.parse(await readFile('package.json', 'utf8')) as { engines: { node: string } };
    expect(engines.node).toBe('>=24');
  });

  it('meets the check first: files before it import nothing that an old Node lacks', async () => {
    const imports = /^import (?<names>.*) from 'node:(?<module>\w+)'/gm;
    const early = ['src/main.js', 'src/cli/compile-cache.js', 'src/cli/node-version.js'];
    const texts = await Promise.all(early.map((file) => readFile(file, 'utf8')));
    const found = texts.flatMap((text) => [...text.matchAll(imports)].map(({ groups }) => groups?.['names']));
    expect(found).toEqual(['{ existsSync, mkdirSync, statSync }', '* as nodeModule', '{ dirname, isAbsolute, join }']);
  });
});
