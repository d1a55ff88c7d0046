import { jsPDF } from 'jspdf';

export default async () => {
  const document = new jsPDF();
  document.text('Hello', 10, 10);
  return document.output().slice(0, 5);
};
