/** Answers for refused requests: a status, a reason and an error code. */

export interface SandboxRefusal {
  readonly status: number;
  readonly detail: string | readonly Violation[];
  /** Sent as `x-error`. */
  readonly error?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** One violation of the contract, with its location in the request. */
export interface Violation {
  readonly loc: readonly (string | number)[];
  readonly msg: string;
  readonly type: string;
}

export const notFound = (path: string): SandboxRefusal => ({ status: 404, detail: `There is no endpoint at ${path}` });
export const wrongMethod = (allowed: string): SandboxRefusal => ({
  status: 405,
  detail: 'Method Not Allowed',
  headers: { allow: allowed },
});
export const invalidToken: SandboxRefusal = { status: 401, detail: 'Invalid token', error: 'invalid_token' };
export const noSuchEntity = (what: string): SandboxRefusal => ({ status: 412, detail: `${what} was not found` });
export const notAPage: SandboxRefusal = {
  status: 415,
  detail: 'The address is not a page',
  error: 'unsupported_media_type',
};
export const tooLarge: SandboxRefusal = { status: 413, detail: 'The request is larger than 1 MB' };
export const unprocessable = (detail: readonly Violation[]): SandboxRefusal => ({ status: 422, detail });
/** A bug in the sandbox or in a test's hook. */
export const broken = (error: unknown): SandboxRefusal => ({
  status: 500,
  detail: `The sandbox failed: ${error instanceof Error ? error.message : String(error)}`,
});

/** Sent before the work, based on the maximum cost of the request. */
export const outOfPoints = (status: 401 | 402 | 403, needed: number, left: number): SandboxRefusal => ({
  status,
  detail: `Points limit exhausted, the request may cost ${needed} and ${left} are left`,
  error: 'points_limit_exhausted',
});
