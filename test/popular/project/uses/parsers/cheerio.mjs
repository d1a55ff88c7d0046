import * as cheerio from 'cheerio';

export default async () => cheerio.load('<p>Hello <b>you</b></p>')('b').text();
