import { minify } from 'terser';

export default async () => (await minify('const a = 1 + 1; console.log(a)')).code;
