import dotenv from 'dotenv';

export default async () => dotenv.parse('A=b');
