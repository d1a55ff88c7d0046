import { EmbedBuilder } from 'discord.js';

export default async () => new EmbedBuilder().setTitle('Hello').toJSON();
