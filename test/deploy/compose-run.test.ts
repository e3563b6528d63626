/** The walk through Compose of `docs/deploy.md`: the config of `deploy/` loads rows from the sandbox that Compose starts. */
import { expect, it } from 'vitest';
import { select } from '../flow/rows.ts';
import { sceneIn, SMALL } from '../flow/scene.ts';
import { anyWarehouse } from '../support/warehouse.ts';
import { documentOf, textOf } from './published.ts';

anyWarehouse('deploy/sluice.yaml', (open) => {
  it('completes all its syncs with the sandbox of deploy/compose.yaml', async () => {
    const { sandbox } = documentOf('deploy/compose.yaml')['services'] as { sandbox: { command: string[] } };
    const points = Number(sandbox.command[sandbox.command.indexOf('--points') + 1]);
    const scene = await sceneIn(await open(), { points, size: SMALL });
    const config = textOf('deploy/sluice.yaml').replace(/url: \$\{DATABASE_URL.*/, 'url: "embedded:memory"');

    expect(await scene.sync(config)).toMatchObject({ exitCode: 0 });

    expect(await select(scene.warehouse, 'select count(*)::int as pages from sluice.web_pages')).toEqual([
      { pages: 2 },
    ]);
  });
});
