import matter from 'gray-matter';

export default async () => matter('---\na: 1\n---\nHello').data;
