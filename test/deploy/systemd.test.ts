/** The systemd units: understood by systemd itself where it is, and their exit codes by what Sluice means by them. */
import { spawnSync } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { EXIT } from '../../src/errors.ts';
import { textOf } from './published.ts';

const FOLDER = 'deploy/systemd';
const PROGRAM = '/opt/sluice/node_modules/.bin/sluice';
const names = (await readdir(FOLDER)).filter((name) => /\.(service|timer)$/.test(name));
const common = textOf(`${FOLDER}/sluice-.service.d/10-common.conf`);

const valueOf = (text: string, key: string): string | undefined => new RegExp(`^${key}=(.*)$`, 'm').exec(text)?.[1];
const codesIn = (text: string, key: string): number[] => (valueOf(text, key) ?? '').split(' ').map(Number);

describe('the units', () => {
  it('are not tried again where that would end the same, and are where it may not', () => {
    const roles = [EXIT.bug, EXIT.usage, EXIT.credential, EXIT.schema];
    for (const name of ['sluice-schedule.service', 'sluice-worker@.service'])
      expect(codesIn(textOf(`${FOLDER}/${name}`), 'RestartPreventExitStatus')).toEqual(roles);
    const oneShot = [EXIT.bug, EXIT.usage, EXIT.credential, EXIT.rejects, EXIT.budget, EXIT.schema];
    const sync = textOf(`${FOLDER}/sluice-sync.service`);
    expect(codesIn(sync, 'RestartPreventExitStatus')).toEqual(oneShot);
    expect(valueOf(sync, 'Restart')).toBe('on-failure');
  });

  it('count an end by a signal as one in order, and give it longer than the longest call', () => {
    expect(codesIn(common, 'SuccessExitStatus')).toEqual([130, 143]);
    expect(Number(valueOf(common, 'TimeoutStopSec'))).toBeGreaterThan(300 + 30);
  });

  it('hand over secrets as credentials, never in the environment', () => {
    for (const [name, variable] of [
      ['service-token', 'SLUICE_SERVICE_TOKEN'],
      ['database-url', 'DATABASE_URL'],
    ] as const) {
      expect(common).toContain(`LoadCredential=${name}:/etc/sluice/${name}`);
      expect(common).toContain(`Environment=${variable}_FILE=%d/${name}`);
    }
  });
});

// Machines without systemd do not need the units.
describe.runIf(spawnSync('systemd-analyze', ['--version']).status === 0)('systemd', () => {
  it('understands every unit, with what all share', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-units-'));
    try {
      await cp(FOLDER, folder, { recursive: true });
      for (const name of names) {
        // It looks for the program, which is not installed here.
        const path = join(folder, name);
        await writeFile(path, (await readFile(path, 'utf8')).replaceAll(PROGRAM, '/bin/true'));
      }
      const analyze = (...words: string[]) => spawnSync('systemd-analyze', words, { cwd: folder, encoding: 'utf8' });
      const units = names.map((name) => `./${name.replace('@.', '@9465.')}`);
      const verified = analyze('verify', '--man=no', ...units);
      expect([verified.status, verified.stderr, verified.stdout]).toEqual([0, '', '']);
      // The drop-in is found by prefix; without it the units would be at 9 of 10.
      for (const unit of units.filter((it) => it.endsWith('.service') && !it.includes('@'))) {
        const { stdout } = analyze('security', '--offline=yes', '--no-pager', unit);
        expect(Number(/exposure level for .*: ([\d.]+)/.exec(stdout)?.[1]), unit).toBeLessThan(3);
      }
      await writeFile(join(folder, 'sluice-sync.service'), '[Service]\nExecStart=/bin/true\nExceStart=/bin/true\n');
      expect(analyze('verify', '--man=no', './sluice-sync.service').stderr).toContain('ExceStart');
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
