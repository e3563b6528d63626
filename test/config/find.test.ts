/** Which config file a command takes. */
import { describe, expect, it } from 'vitest';
import { configPath } from '../../src/config/find.ts';

const all = () => true;
const none = () => false;
const onlyQuickstart = (path: string) => path === 'configs/quickstart.yaml';

describe('the config file', () => {
  it.each([
    ['the flag', 'a.yaml', { SLUICE_CONFIG: 'b.yaml' }, all, 'a.yaml'],
    ['the variable', undefined, { SLUICE_CONFIG: 'b.yaml' }, all, 'b.yaml'],
    ['sluice.yaml', undefined, {}, all, 'sluice.yaml'],
    ['sluice.yaml, an empty variable counting as unset', undefined, { SLUICE_CONFIG: '' }, all, 'sluice.yaml'],
    ['the quickstart', undefined, {}, onlyQuickstart, 'configs/quickstart.yaml'],
    ['sluice.yaml if there is none, so that an error names it', undefined, {}, none, 'sluice.yaml'],
  ])('is %s', (_, flag, env, exists, expected) => {
    expect(configPath(flag, env, exists)).toBe(expected);
  });
});
