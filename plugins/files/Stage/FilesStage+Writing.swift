import Changelog
import HealthModel
import MessageBus
import Protocol
import StageKit

/// Writes files, newest first, from their producers' current content.
extension FilesStage {
    /// Files are written once the stage is within this distance of what is released: any earlier, and they would soon
    /// have to be written again.
    private static let nearby: Int64 = 5000

    /// Begins the jobs that may begin, and returns when to call it again.
    func moveWriting(_ turn: Turn) throws -> MonotonicTime? {
        guard turn.monotonic >= retry else { return retry }
        try moveCheck(turn)
        if manifest.isBeingWritten { return nil }
        while jobs.count < Self.concurrentJobs {
            guard mayWrite(turn), let path = nextPath(turn) else { break }
            // First, readers learn that files are changing.
            guard manifest.state == .incomplete else {
                marks.requeue()
                if jobs.isEmpty { try writeManifest(isComplete: false, turn) }
                return nil
            }
            try begin(path, turn)
        }
        guard jobs.isEmpty else { return nil }
        let next = waiting(turn)
        let isWhole = check.isDone && check.phase == .idle && !next.isDue && stuck.isEmpty && samples.limit != nil
        if isWhole, manifest.state != .complete {
            try writeManifest(isComplete: true, turn)
        }
        guard !next.isDue, !manifest.isBeingWritten, mayWrite(turn) else { return next.wait }
        return [next.wait, try moveProof(turn)].compactMap { $0 }.min()
    }

    private func nextPath(_ turn: Turn) -> String? {
        marks.next(at: turn.monotonic, besides: Set(jobs.map(\.span.path))).path
    }

    private func mayWrite(_ turn: Turn) -> Bool {
        samples.isLive(within: Self.nearby) && !samples.isHeldUp(turn)
    }

    private func waiting(_ turn: Turn) -> (isDue: Bool, wait: MonotonicTime?) {
        guard mayWrite(turn) else { return (marks.count > 0, nil) }
        let next = marks.next(at: turn.monotonic, besides: [])
        if next.path != nil { marks.requeue() }
        return (next.path != nil, next.wait)
    }

    private func begin(_ path: String, _ turn: Turn) throws {
        guard let mark = marks.marks[path] else { return }
        guard let span = FileSpan(path: path) else { return try marks.clear(path, generation: mark.generation, turn) }
        try begin(span, generation: mark.generation, turn)
    }

    /// - Parameter proves: whether the file is only compared.
    func begin(_ span: FileSpan, generation: Int64, proves: Bool = false, _ turn: Turn) throws {
        lastJob += 1
        var job = FileJob(
            number: lastJob, span: span, generation: generation, step: .writing(effect: 0, next: nil),
            known: try ledger.entry(span.path, turn), proves: proves)
        if !layout.has(span) {
            // The file is from another layout: without rows, it is removed.
            hand(.bytes([], rows: 0), to: &job, next: nil, turn)
        } else if case .samples(let type) = span.content {
            let range = span.period.instants
            let cursor = samples.cursor
            let slice = SliceRequest(
                user: span.user, types: .only([type]), asOf: cursor.anchor, from: range.lowerBound,
                to: range.upperBound,
                detailed: .list([type]))
            ask(.samples(slice, PullPlace(store: cursor.store, generation: cursor.generation)), &job, turn)
        } else {
            job.documents = DocumentCollection(span, figures: figures, layout: layout)
            let producers =
                span.content == .days
                ? [consolidator].compactMap { $0 } : documents.map(\.producer).filter { $0 != consolidator }
            let topic = span.content == .days ? "daily.summary" : "events."
            ask(.documents(producers: producers, topic: topic, after: .beginning, head: nil), &job, turn)
        }
        jobs.append(job)
    }

    private func ask(_ source: FileJob.Source, _ job: inout FileJob, _ turn: Turn) {
        switch source {
        case .samples(let slice, let place):
            job.step = .asked(turn.pull(samples.producer, .slice(slice), place), source)
        case .types: job.step = .asked(turn.pull(samples.producer, .types), source)
        case .documents(let producers, let topic, let after, let head):
            guard let producer = producers.first else {
                let rows = job.documents
                return hand(.bytes(rows?.bytes ?? [], rows: rows?.count ?? 0), to: &job, next: nil, turn)
            }
            job.step = .asked(
                turn.pull(
                    producer, .changes(topic: topic, days: job.span.period.days), PullPlace(of: head, after: after)),
                source)
        }
    }

    /// Gives the runner a piece; the last one if nothing follows.
    private func hand(_ content: FilePart.Content, to job: inout FileJob, next: FileJob.Source?, _ turn: Turn) {
        let effect = turn.perform(
            FilePart(
                job: job.number, path: job.span.path,
                head: job.hasBegun ? [] : DocumentRows.head(job.span, figures: figures), content: content,
                isFirst: !job.hasBegun, isLast: next == nil, known: job.known, makesFolder: ledger.count == 0,
                compares: job.proves))
        job.hasBegun = true
        job.step = .writing(effect: effect, next: next)
    }

    // MARK: What comes back

    /// Accepts the answer to a question for a file; returns false for any other answer.
    func receive(written answer: PullAnswer, _ turn: Turn) throws -> Bool {
        let index = jobs.firstIndex {
            if case .asked(let pull, _) = $0.step { pull.id == answer.pull.id } else { false }
        }
        guard let index, case .asked(_, let source) = jobs[index].step else { return false }
        var job = jobs[index]
        let producer = upstreams.first { $0.producer == answer.pull.producer }
        switch answer.result {
        case .pages(let pages):
            if case .types = source {
                guard shows(job.span, try types(pages)) else { return try leave(index, turn) }
                hand(.bytes([], rows: 0), to: &job, next: nil, turn)
            } else {
                try take(pages, from: source, &job, turn)
            }
        // The upstream's own cursor sees the reset too, and has the files marked.
        case .reset: return drop(index, turn)
        case .refused(let why):
            producer?.wasRefused(why, turn)
            return drop(index, turn)
        case .databaseInaccessible:
            producer?.becameInaccessible(turn)
            return drop(index, turn)
        }
        jobs[index] = job
        return true
    }

    private func take(_ pages: [Value], from source: FileJob.Source, _ job: inout FileJob, _ turn: Turn) throws {
        switch source {
        case .types: break
        case .samples(var slice, let place):
            let pages: [SlicePage] = try pages.map { try $0.page(from: samples.producer) }
            var next: FileJob.Source?
            if let more = pages.last?.continue {
                slice.continue = more
                next = .samples(slice, place)
            }
            if pages.contains(where: { $0.samples.count > 0 }) { job.isShown = true }
            if next == nil, !job.isShown { return ask(.types, &job, turn) }
            let rows = SampleRows(job.span, layout: layout)
            hand(.samples(pages.map(\.samples), rows), to: &job, next: next, turn)
        case .documents(var producers, let topic, let after, _):
            guard let producer = producers.first, let last = pages.last else { return }
            let covered: CoveredPage = try last.page(from: producer)
            guard let head = covered.head else { throw StageError.unreadablePage(producer: producer) }
            job.heads[producer] = head.sequence
            for page in pages { job.documents?.take(try page.page(from: producer), from: producer) }
            // This includes whatever changed while it was being read, because a changed row has moved to the end.
            if covered.through < head.sequence, covered.through > after {
                ask(.documents(producers: producers, topic: topic, after: covered.through, head: head), &job, turn)
            } else {
                producers.removeFirst()
                ask(.documents(producers: producers, topic: topic, after: .beginning, head: nil), &job, turn)
            }
        }
    }

    /// Ends a job whose file stays as it is.
    private func leave(_ index: Int, _ turn: Turn) throws -> Bool {
        let job = jobs.remove(at: index)
        if job.hasBegun { turn.perform(DropFile(job: job.number)) }
        stuck[job.span.path] = nil
        if !job.proves { try marks.clear(job.span.path, generation: job.generation, turn) }
        return true
    }

    @discardableResult
    func drop(_ index: Int, _ turn: Turn) -> Bool {
        let job = jobs.remove(at: index)
        if job.proves { proof.postpone(job.span.path, until: turn.monotonic + Self.patience) }
        if job.hasBegun { turn.perform(DropFile(job: job.number)) }
        marks.requeue()
        return true
    }

    func dropJobs(_ turn: Turn) { while !jobs.isEmpty { drop(jobs.count - 1, turn) } }

    package func receive(_ result: EffectResult, _ turn: Turn) throws {
        guard let outcome = result.value as? FileOutcome else { return }
        if case .failed(let problem) = outcome { return failed(problem, result, turn) }
        if try receive(proof: result, outcome, turn) { return }
        if try receive(checked: result, outcome, turn) { return }
        if try receive(manifest: result, outcome, turn) { return }
        guard let index = job(of: result), case .writing(_, let next) = jobs[index].step else { return }
        var job = jobs[index]
        switch outcome {
        case .taken:
            if let next { ask(next, &job, turn) }
            jobs[index] = job
            return
        case .written(let rows, let bytes, let sum, let isChanged):
            if isChanged || job.known == nil {
                try ledger.put(
                    .init(path: job.span.path, rows: rows, bytes: bytes, sum: sum, written: turn.now),
                    isNew: job.known == nil, turn)
                try ledger.wrote(rows, family: metric(of: job.span), turn)
            }
        case .proved(let difference):
            jobs.remove(at: index)
            return try proved(job, difference, turn)
        case .removed: try ledger.remove(job.span.path, turn)
        case .listed, .compared, .failed: return
        }
        works()
        stuck[job.span.path] = nil
        try marks.clear(job.span.path, generation: job.generation, turn)
        jobs.remove(at: index)
    }

    /// The place of the job whose piece a result is about.
    private func job(of result: EffectResult) -> Int? {
        jobs.firstIndex { if case .writing(let effect, _) = $0.step { effect == result.id } else { false } }
    }

    private func metric(of span: FileSpan) -> String {
        switch span.content {
        case .samples(let type): family(type)
        case .days: "daily"
        case .nights: "sleep"
        case .workouts: "workouts"
        }
    }

    /// Notes that something could be finished. A first piece proves nothing: the disk may have room for just that.
    func works() {
        blocked = nil
        isWritingBlocked = false
        backOff.failures = 0
    }

    /// Everything is tried again later; if only one file can't be written, the others go on.
    private func failed(_ problem: FileProblem, _ result: EffectResult, _ turn: Turn) {
        if problem.isOfOneFile, let index = job(of: result) {
            let path = jobs.remove(at: index).span.path
            if stuck.updateValue(problem.description, forKey: path) == nil {
                turn.log(.uploadRetry, ["why": problem.description, "seconds": 60])
            }
            return marks.postpone(path, until: turn.monotonic + Self.longestRetry)
        }
        let isListing = check.waits(for: result.id) || proof.waits(for: result.id)
        if !isListing { isWritingBlocked = true }
        if blocked != problem.description {
            turn.log(.uploadRetry, ["why": problem.description, "seconds": 1])
            backOff.failures = 0
        }
        blocked = problem.description
        retry = turn.monotonic + backOff.next()
        dropJobs(turn)
        manifest.fail()
        check.fail()
        proof.fail()
    }
}
