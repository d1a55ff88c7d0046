import MarkdownIt from 'markdown-it';

export default async () => new MarkdownIt().render('# Hello');
