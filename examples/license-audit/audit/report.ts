import { appendFile, open, unlink } from 'node:fs/promises';

/** Somebody else is writing. Try again. */
class ReportBusy extends Error {
  override name = 'ReportBusy';
}

/**
 * Adds a line to the report. The report has one lock file and takes one writer at a time: of two runs that meet, one is
 * refused. Nothing here is staged: which runs meet differs from one audit to the next.
 */
export async function addToReport(report: string, line: string): Promise<void> {
  const lock = `${report}.lock`;
  const held = await open(lock, 'wx').catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'EEXIST' ? new ReportBusy('The report is being written by another run') : error;
  });
  try {
    await appendFile(report, `${line}\n`);
  } finally {
    await held.close();
    await unlink(lock);
  }
}
