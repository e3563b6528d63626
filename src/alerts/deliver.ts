/** The ways by which a config has alerts told. */
import type { Delivery, DeliveryEffects } from './delivery.ts';
import type { AlertSettings } from '../config/definition.ts';
import type { AlertChannel } from './store.ts';
import type { AlertPayload } from './payload.ts';
import { openProgram } from './program.ts';
import { openWebhook } from './webhook.ts';

export interface Channel {
  readonly name: AlertChannel;
  /** Ends within seconds, and rejects never. */
  readonly tell: (payload: AlertPayload) => Promise<Delivery>;
}

/** The channels that the config names. */
export function channelsOf({ webhook, command }: AlertSettings, effects: DeliveryEffects): Channel[] {
  return [
    ...(webhook ? [{ name: 'webhook' as const, tell: openWebhook(webhook, effects) }] : []),
    ...(command ? [{ name: 'command' as const, tell: openProgram(command, effects) }] : []),
  ];
}
