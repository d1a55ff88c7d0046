import { Liquid } from 'liquidjs';

export default async () => new Liquid().parseAndRender('Hello {{ name }}', { name: 'Ada' });
