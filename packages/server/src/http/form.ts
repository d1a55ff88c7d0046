import { badRequest } from '../problem.ts';

/** Whether a Content-Type is that of a form with files. */
export const isForm = (contentType: string | undefined): contentType is string =>
  contentType !== undefined && /^multipart\/form-data\s*(;|$)/i.test(contentType);

/**
 * A multipart/form-data body as the object that its JSON would be: fields as texts, files by their text. `file` names the one
 * that must be there. The platform's own parser reads it.
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
    throw badRequest('Invalid file: the body is not multipart/form-data as its Content-Type says');
  }
  const given = form.getAll(file);
  if (given.length > 1)
    throw badRequest(`Invalid file: the field "${file}" is given ${given.length} times; send one`);
  if (given.length === 0) throw badRequest(`Invalid file: send it in the field "${file}"`);
  const members: Record<string, string> = {};
  for (const [name, value] of form) members[name] = typeof value === 'string' ? value : await value.text();
  // Bodies are read as UTF-8, where what is not text leaves this mark.
  if (/[\0\uFFFD]/.test(members[file] ?? '')) {
    throw badRequest(`Invalid file: "${file}" is not a text in UTF-8`);
  }
  return members;
}
