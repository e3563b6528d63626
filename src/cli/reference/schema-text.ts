/** The JSON Schema for editors as the text of its file. */
import { editorSchema } from '../../config/editor-schema.ts';

export const schemaText = (): string => `${JSON.stringify(editorSchema(), null, 2)}\n`;
