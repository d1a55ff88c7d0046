export { openApiDocument, type OpenApiDocument, type OpenApiOptions } from './document.ts';
