/** Characters that would control a terminal, or change the text direction. */
export const controlCharacters = /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g;
