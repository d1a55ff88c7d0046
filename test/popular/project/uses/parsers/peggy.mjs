import peggy from 'peggy';

export default async () => peggy.generate('start = "a"+').parse('aa');
