import { badRequest } from '../problem.ts';

/** Whether a Content-Type is multipart/form-data. */
export const isForm = (contentType: string | undefined): contentType is string =>
  contentType !== undefined && /^multipart\/form-data\s*(;|$)/i.test(contentType);

/**
 * Reads a multipart/form-data body as an object of strings: each field's value and each file's text. `file` names the required file.
 */
export async function readForm(
  text: string | undefined,
  contentType: string,
  file: string,
): Promise<Readonly<Record<string, string>>> {
  let form: FormData;
  try {
    form = await new Response(text ?? '', { headers: { 'content-type': contentType } }).formData();
  } catch {
    throw badRequest('Invalid file: the body is not valid multipart/form-data');
  }
  const files = form.getAll(file);
  if (files.length > 1)
    throw badRequest(`Invalid file: the field "${file}" occurs ${files.length} times; send it once`);
  if (files.length === 0) throw badRequest(`Invalid file: send it in the field "${file}"`);
  // No prototype: a field may be called `__proto__`.
  const members: Record<string, string> = Object.create(null);
  for (const [name, value] of form) members[name] = typeof value === 'string' ? value : await value.text();
  // Decoding UTF-8 replaces invalid bytes with U+FFFD.
  if (/[\0\uFFFD]/.test(members[file] ?? '')) {
    throw badRequest(`Invalid file: "${file}" is not valid UTF-8 text`);
  }
  return members;
}
