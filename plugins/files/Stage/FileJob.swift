import Changelog
import HealthModel
import MessageBus
import Protocol

/// A file being written: what has been requested for it, and what is still to be requested.
struct FileJob {
    enum Step {
        /// Samples or rows have been requested.
        case asked(Pull, Source)
        /// The runner has a piece; `next` is requested after that, and is nil if this was the last.
        case writing(effect: Int64, next: Source?)
    }

    /// Where the next rows come from.
    enum Source {
        case samples(SliceRequest, PullPlace)
        /// Producers still to be asked; the first one is asked for everything after a given sequence number.
        case documents(producers: [String], topic: String, after: SequenceNumber, head: StoreHead?)
        /// Whether the observer shows the type at all: asked if it showed no samples.
        case types
    }

    let number: Int64
    let span: FileSpan
    /// The mark's generation when the job began: if something changes after that, the file is written again.
    let generation: Int64
    var step: Step
    /// Whether the runner has received any piece of the file.
    var hasBegun = false
    /// Whether the observer has shown any sample.
    var isShown = false
    var documents: DocumentCollection?
    let known: FileLedger.Entry?
    /// Whether the file is only compared with what is on the disk.
    var proves = false
    /// The heads of the producers of documents when they were read.
    var heads: [String: SequenceNumber] = [:]
}
