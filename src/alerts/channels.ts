/** The channels on which a config has alerts delivered. */
import type { Delivery, DeliveryEffects } from './delivery.ts';
import type { AlertSettings } from '../config/definition.ts';
import type { AlertChannel } from './store.ts';
import type { AlertPayload } from './payload.ts';
import { openProgram } from './program.ts';
import { openWebhook } from './webhook.ts';

export interface DeliveryChannel {
  readonly name: AlertChannel;
  /** Settles within seconds and never rejects. */
  readonly send: (payload: AlertPayload) => Promise<Delivery>;
}

/** The channels that the config names. */
export function channelsOf({ webhook, command }: AlertSettings, effects: DeliveryEffects): DeliveryChannel[] {
  return [
    ...(webhook ? [{ name: 'webhook' as const, send: openWebhook(webhook, effects) }] : []),
    ...(command ? [{ name: 'command' as const, send: openProgram(command, effects) }] : []),
  ];
}
