import mongoose from 'mongoose';

export default async () => {
  const Mail = mongoose.model('Mail', new mongoose.Schema({ to: { type: String, required: true } }));
  return Object.keys(new Mail({}).validateSync().errors);
};
