import { hash } from 'node:crypto';

/** The digest of a style sheet or script, as a content security policy contains it. */
export const policyDigest = (text: string): string => `sha256-${hash('sha256', text, 'base64')}`;
