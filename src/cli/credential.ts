/** Checks for a token and for usable settings before any other work. */
import type { Config } from '../config/definition.ts';
import type { OptionalSetting } from '../config/optional.ts';
import { CredentialError } from '../errors.ts';

/** Throws a ConfigError if the variable of one of these settings has no valid value. */
export function requireUsable({ unusable }: Config, settings: readonly OptionalSetting[]): void {
  if (unusable?.settings.some((setting) => settings.includes(setting))) throw unusable.error;
}

/**
 * Throws a CredentialError if the config has no token. Throws a ConfigError if the variable of the token or of the address
 * has no valid value, or that of the webhook, because commands that send requests also send alerts.
 */
export function requireToken(config: Config): void {
  requireUsable(config, ['service.url', 'service.token', 'alerts.webhook']);
  const { file, service } = config;
  if (service.token) return;
  throw new CredentialError(`no token: service.token of ${file} is empty`, {
    next:
      'Set the variable in service.token (SLUICE_SERVICE_TOKEN in the shipped configs) to an API token of the service, ' +
      'or SLUICE_SERVICE_TOKEN_FILE to a file with the token.',
  });
}
