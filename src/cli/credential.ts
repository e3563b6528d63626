/** Checks for a token before any other work. */
import type { Config } from '../config/definition.ts';
import { CredentialError } from '../errors.ts';

/** Throws a CredentialError if the config has no token. */
export function requireToken({ file, service }: Config): void {
  if (service.token) return;
  throw new CredentialError(`no token: service.token of ${file} is empty`, {
    next:
      'Set the variable in service.token (SLUICE_SERVICE_TOKEN in the shipped configs) to an API token of the service, ' +
      'or SLUICE_SERVICE_TOKEN_FILE to a file with the token.',
  });
}
