/** A sync of three groups, for tests of what a run makes of each answer. */
import type { Fault, FaultEffect } from '../../src/sandbox/fault.ts';
import { type Scene, service } from './scene.ts';

/** A config that asks for three groups, with this further line of the sync. */
export const groups = (more = '', settings: Readonly<Record<string, number>> = {}): string => `${service(settings)}
syncs:
  groups:
    endpoint: pronet.group
    for_each: { group: ["1001", "1002", "1003"] }
    ${more}
`;
export const GROUPS = groups();

/** What goes wrong at the nth request for a group. */
export const at = (nth: number | 'every', effect: FaultEffect, billed?: boolean): Fault => ({
  on: { endpoint: 'pronet.group', nth },
  do: effect,
  ...(billed !== undefined && { billed }),
});

/** Points that the service charged. */
export const paid = ({ sandbox }: Scene): number => sandbox.requests().reduce((sum, { cost }) => sum + cost, 0);
/** The groups that were requested since the last call, in order. */
export const requestedGroups = (scene: Scene): unknown[] =>
  scene.arrived().map(({ body }) => (body as { group: string }).group);
