import DOMPurify from 'isomorphic-dompurify';

export default async () => DOMPurify.sanitize('<p onclick="x">Hello</p>');
