/** The professional network's identifiers, in the three ways people write them. */

export interface Urn {
  readonly type: string;
  readonly value: string;
}

const WRITTEN = /^(?:urn:li:)?(?!urn:)([A-Za-z][A-Za-z0-9_]*):(\S+)$/;

/** The URN that a text names (`urn:li:fsd_profile:abc` or `fsd_profile:abc`), or undefined when it names none. */
export function urnOf(written: string): Urn | undefined {
  const parts = WRITTEN.exec(written.trim());
  return parts ? { type: parts[1] as string, value: parts[2] as string } : undefined;
}

/** URN types that name an organization. Any other type is taken for a person where one of the two is due. */
export const COMPANY_URN_TYPES: readonly string[] = ['fsd_company', 'company', 'school'];
