/** Whether PostgreSQL can compare the text with stored ones: it has no text with a null character. */
export const isStorable = (text: string): boolean => !text.includes('\0');
