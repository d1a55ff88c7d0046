import juice from 'juice';

export default async () => juice('<style>p{color:red}</style><p>Hello</p>');
