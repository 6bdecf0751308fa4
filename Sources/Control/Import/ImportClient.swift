import Client
import Clocks
import Foundation
import HealthImport
import HealthModel
import Logging
import Protocol
import Terminal

/// Hands files over to a running observer and watches their progress. Once the observer has the whole file, this
/// process may end.
package final class ImportClient {
    package struct Outcome: Sendable {
        package var path: String
        /// The report from the observer; nil when it couldn't read the file.
        package var report: Value?
        package var problem: String?
        /// The observer's head once the import had ended.
        package var head: SequenceNumber

        package var isDamaged: Bool { report != nil && problem != nil }
        /// Why a complete import deleted nothing.
        package var refused: String? { reported?.completeness?.refused }
        /// The report, read.
        package var reported: ImportReport? { report?.read() }

        /// One element of `files` in the output of `import --json`.
        package var value: Value { ImportRow.reported(path: path, report: report, problem: problem) }
    }

    /// What an import should do besides importing its file.
    package struct Options: Sendable {
        /// The export is complete for the types and the time that it covers: samples that it lacks are deleted.
        package var isComplete = false
        /// Read everything, change nothing, report what would change.
        package var isTrial = false
        /// The percentage of the covered samples that may be deleted; nil for the usual limit.
        package var deleteUpTo: Double?
        /// Import the file even though this mixes made-up data with a person's.
        package var mixesMadeUp = false

        package init(
            isComplete: Bool = false, isTrial: Bool = false, deleteUpTo: Double? = nil, mixesMadeUp: Bool = false
        ) {
            (self.isComplete, self.isTrial, self.deleteUpTo) = (isComplete, isTrial, deleteUpTo)
            self.mixesMadeUp = mixesMadeUp
        }

        func ask(_ command: inout ImportFile) {
            if isComplete { command.complete = true }
            if isTrial { command.dryRun = true }
            command.deleteUpTo = deleteUpTo
            if mixesMadeUp { command.mixMadeUp = true }
        }
    }

    /// A person no longer wants to wait for an import that the observer knows of.
    package struct Interrupted: Error {
        package var id: String
        package var name: String
        /// Whether the file is still being sent over the bus; that stops when this command ends.
        package var isSending: Bool
    }

    private let client: StackClient
    private let observer: String
    private let hub: String
    private let offers: FileOffers
    private let isInterrupted: () -> Bool

    /// - Parameter isInterrupted: called repeatedly while waiting for a file.
    package init(
        client: StackClient, observer: String, hub: String = "hub", isInterrupted: @escaping () -> Bool = { false }
    ) {
        (self.isInterrupted, self.client, self.observer, self.hub) = (isInterrupted, client, observer, hub)
        offers = FileOffers(client, observer: observer)
    }

    /// Hands a file over and waits until it is imported, with a progress bar on a terminal.
    ///
    /// If the observer can open the file, it reads the file in place, and this command may end. For any other file, and
    /// for standard input ("-"), the observer asks for the bytes. If the command is repeated, it continues after the
    /// part of the file that has already arrived.
    /// - Throws: `Failure` when the file can't be read, or the observer doesn't accept it within `seconds`;
    ///   `Interrupted`. Once the observer knows of the file, this waits however long the observer is silent.
    package func run(
        _ path: String, user: String?, options: Options = Options(), within seconds: Double = 20
    ) throws -> Outcome {
        let file = try Self.file(path)
        var request = ImportFile(path: file.path, user: user, file: file.identity)
        options.ask(&request)
        let wait = AnswerWait(client, for: observer, hub: hub, undone: "nothing was imported")
        try wait.untilHeard(within: seconds)
        let id = try begun(request, of: file, within: seconds) ?? UUID().uuidString.lowercased()
        request.id = id
        request.sender = client.name
        offers.offer(file, as: id)
        defer { offers.withdraw(id) }
        let name = path == "-" ? file.path : path
        try submit(request, id: id, name: name, within: seconds, wait)
        return try watch(id, name: name, file: file, request: request, wait)
    }

    private static func file(_ path: String) throws -> OfferedFile {
        do { return try OfferedFile(path) } catch let unreadable as OfferedFile.Unreadable {
            let error = ImportError.system(unreadable.code, path: path)
            throw Failure(error.problem, hint: error.hint)
        }
    }

    /// An earlier import of exactly this file that hasn't received all its bytes yet. An import from a pipe can't be
    /// continued.
    private func begun(_ request: ImportFile, of file: OfferedFile, within seconds: Double) throws -> String? {
        guard file.identity != nil,
            let page = try client.ask(observer, .imports(), within: seconds)?.first
        else { return nil }
        return page.imports.first { $0.state == .receiving && $0.request == request }?.id
    }

    /// Announces a file repeatedly until the observer knows of it.
    private func submit(
        _ request: ImportFile, id: String, name: String, within seconds: Double, _ wait: AnswerWait
    ) throws {
        let taken = try client.give(request.body, to: observer, within: seconds, meanwhile: wait.look) {
            try state(id, within: 0.3)
        }
        if taken != nil { return }
        throw wait.failure(
            else: Failure(
                "'\(observer)' doesn't accept '\(name)'",
                hint: "'healthbus doctor' says why; then give the file again"))
    }

    /// The observer's row for an import (id, path, state, report, problem) and the observer's head; nil when it has no
    /// such row or doesn't answer.
    package func state(_ id: String, within seconds: Double) throws -> (row: ImportRow, head: SequenceNumber)? {
        guard let (row, head) = try offers.look(id, within: seconds), let row else { return nil }
        return (row, head)
    }

    private func outcome(_ row: ImportRow, head: SequenceNumber, name: String) -> Outcome? {
        switch row.state {
        case .closed: Outcome(path: name, report: row.report ?? .null, problem: row.problem, head: head)
        case .failed:
            Outcome(path: name, report: nil, problem: row.problem ?? "it couldn't be read", head: head)
        default: nil
        }
    }

    /// How much of the file has been read, according to the last heartbeat.
    package func progress(_ id: String) -> (bytesRead: Int, bytesTotal: Int, records: Int)? {
        offers.progress(id).map { (Int($0.bytesRead), Int($0.bytesTotal), Int($0.records)) }
    }

    private func watch(
        _ id: String, name: String, file: OfferedFile, request: ImportFile, _ wait: AnswerWait
    ) throws -> Outcome {
        var progress = ImportProgress(name: (name as NSString).lastPathComponent)
        var lastOffer = MonotonicClock.now
        var isSending = false
        while true {
            // Also while the observer is silent, which may be for good.
            if isInterrupted() {
                progress.interrupt()
                throw Interrupted(id: id, name: name, isSending: isSending)
            }
            // The state isn't requested on each heartbeat: during an import they arrive by the dozen, and the observer
            // has other work to do.
            Thread.sleep(forTimeInterval: 0.05)
            guard let (row, head) = try state(id, within: 1) else {
                wait.look()
                continue
            }
            wait.heard()
            isSending = row.state == .receiving
            if let outcome = outcome(row, head: head, name: name) {
                progress.end(outcome)
                return outcome
            }
            switch row.state {
            case .announced, .receiving:
                // As long as these offers arrive, the observer keeps asking; otherwise it assumes that this command is
                // gone.
                if MonotonicClock.now - lastOffer >= .seconds(1) {
                    offers.say(request)
                    lastOffer = MonotonicClock.now
                }
                if isSending { progress.send(file.progress) }
            default: if let now = self.progress(id) { progress.read(now) }
            }
        }
    }
}

/// The progress bars of one import: first for sending the file over the bus, if that is needed, then for reading it.
private struct ImportProgress {
    let name: String
    private var sending: ProgressBar?
    private var reading: ProgressBar?

    init(name: String) { self.name = name }

    mutating func send(_ now: (bytes: Int, total: Int?)) {
        if sending == nil { sending = ProgressBar("Sending \(name)", totalBytes: now.total) }
        sending?.update(bytes: now.bytes)
    }

    mutating func read(_ now: (bytesRead: Int, bytesTotal: Int, records: Int)) {
        endSending()
        // Before the file's first block its size is unknown, and a bar can't change its size later.
        guard now.bytesTotal > 0 else { return }
        if reading == nil { reading = ProgressBar(name, totalBytes: now.bytesTotal) }
        reading?.update(bytes: now.bytesRead, records: now.records)
    }

    private mutating func endSending() {
        if let total = sending?.totalBytes { sending?.update(bytes: total) }
        sending?.finish()
        sending = nil
    }

    /// Leaves the bars as they are.
    mutating func interrupt() {
        sending?.finish()
        reading?.finish()
    }

    mutating func end(_ outcome: ImportClient.Outcome) {
        endSending()
        if outcome.report != nil, let total = reading?.totalBytes {
            reading?.update(bytes: total, records: Int(outcome.reported?.total.read ?? 0))
        }
        reading?.finish()
    }
}
