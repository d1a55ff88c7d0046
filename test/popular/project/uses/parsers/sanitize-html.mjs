import sanitizeHtml from 'sanitize-html';

export default async () => sanitizeHtml('<p>Hello<script>x</script></p>');
