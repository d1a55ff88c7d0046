import TurndownService from 'turndown';

export default async () => new TurndownService().turndown('<h1>Hello</h1>');
