import HealthModel

extension ProofRun {
    // MARK: What the destination keeps

    /// - Throws: `ProofProblem` if the pages don't belong together.
    mutating func take(theirs page: HeldPage) throws {
        guard case .theirs(let question) = step, let user = users[question.user] else { return }
        guard generation == nil || page.generation == generation else { throw ProofProblem.startedOver }
        generation = page.generation
        if !page.reportsContents { report.comparesContents = false }
        let isSamples = question.list == .samples
        let range = scope.ids(of: question.user)
        let last = phase == .details && isSamples ? batch.filter { $0.list == .samples && $0.user == user }.max() : nil
        if page.isOrdered {
            // Nothing behind the end of a range is read.
            for id in page.rows.lazy.compactMap(\.id) {
                guard lastID.map({ $0 < id }) ?? true else { throw ProofProblem.disordered }
                lastID = id
            }
        }
        var isOver = false
        var there = 0
        for row in page.rows where !isOver {
            rows += 1
            let key = ElementKey(user: user, list: question.list, id: row.id, text: row.text)
            // Where rows come in order, nothing behind the last of those that are wanted is.
            if isSamples, page.isOrdered, let id = row.id, !range.isBelowEnd(id) || last.map({ key.part > $0 }) ?? false
            {
                isOver = true
            } else if !isSamples || range.holds(row.id), take(row, key) {
                there += 1
            }
        }
        if there > 0 { report.users[user].lists[question.list.rawValue, default: .init()].there += there }
        guard let next = page.next, !isOver else { return askNext() }
        // Brent's way to find a cycle: a cursor is remembered at each power of two.
        pages += 1
        guard next != question.cursor, next != remembered else { throw ProofProblem.endless }
        if pages & (pages - 1) == 0 { remembered = next }
        var following = question
        following.cursor = next
        step = .theirs(following)
    }

    /// Returns whether the row counts as one that the destination keeps.
    private mutating func take(_ row: HeldPage.Row, _ key: ElementKey) -> Bool {
        switch phase {
        case .holdings:
            highest[key.list] = max(highest[key.list] ?? 0, row.held.version ?? 0)
            guard key.list != .days || scope.holds(LocalDay(key.text)) else { return false }
            fold.add(key, row.held, .theirs)
            if let content = row.held.content, !row.held.isDeleted, key.list == .samples {
                seen?.add(Twins.content(content, of: key.user))
            }
            return true
        case .copies:
            twins.take(row, key, among: seen?.candidates ?? [])
        case .details:
            guard batch.contains(key.part) else { return false }
            if theirs.updateValue(row.held, forKey: key) != nil {
                report.users[key.user].lists[key.list.rawValue, default: .init()].note(.doubled, key.name)
            }
        case .fold, .rows: break
        }
        return false
    }

    mutating func ask(_ phase: Phase, _ asked: [HeldQuestion]) {
        self.phase = phase
        if phase == .holdings, findsTwins { seen = SeenTwice() }
        questions = asked.reversed()
        askNext()
    }

    mutating func askNext() {
        (lastID, pages, remembered) = (nil, 0, nil)
        if let question = questions.popLast() {
            step = .theirs(question)
            return
        }
        switch phase {
        case .holdings:
            if let seen, !seen.candidates.isEmpty {
                ask(.copies, names.map { HeldQuestion(list: .samples, user: $0) })
            } else {
                beginBatches()
            }
        case .copies: beginBatches()
        case .details: readRows()
        case .fold, .rows: break
        }
    }

    // MARK: What differs

    mutating func beginBatches() {
        // The sums take memory that the rows need now.
        batches = fold.differing(
            rows: Self.rowsPerBatch, versions: keepsVersions && (isThorough || !report.comparesContents),
            contents: report.comparesContents
        ).reversed()
        fold = ElementFold()
        twins.begin(isCut: seen?.isFull ?? false)
        seen = nil
        nextBatch()
    }

    mutating func nextBatch() {
        guard let parts = batches.popLast() else {
            batch = []
            phase = .rows
            guard twins.isWaiting else { return finish() }
            return readRows()
        }
        batch = Set(parts)
        theirs = [:]
        var asked: [HeldQuestion] = []
        for list in Dictionary(grouping: parts, by: { ListKey(user: $0.user, list: $0.list) }).sorted(by: {
            ($0.key.user, $0.key.list.rawValue) < ($1.key.user, $1.key.list.rawValue)
        }) {
            let after = list.key.list == .samples ? list.value.min()?.ids.after : nil
            asked.append(HeldQuestion(list: list.key.list, user: names[list.key.user], after: after))
        }
        ask(.details, asked)
    }

    struct ListKey: Hashable {
        var user: Int
        var list: HeldList
    }

    mutating func readRows() {
        phase = .rows
        if let first = sources.indices.first(where: { isWanted($0) }) {
            step = .ours(source: first, after: .beginning)
        } else {
            endOfBatch()
        }
    }

    /// Whatever wasn't found here is only there.
    mutating func endOfBatch() {
        for (key, held) in theirs.sorted(by: { $0.key.name < $1.key.name }) where !held.isDeleted {
            guard key.list == .samples || scope.holds(key.list == .days ? LocalDay(key.text) : nil) else { continue }
            report.users[key.user].lists[key.list.rawValue, default: .init()].note(.beyond, key.name)
        }
        theirs = [:]
        // All rows have been read once more.
        twins.isRead()
        nextBatch()
    }

    mutating func finish() {
        for (user, name) in twins.doubled {
            report.users[user].lists[HeldList.samples.rawValue, default: .init()].note(.doubled, name)
        }
        if twins.isCut {
            for user in report.users.indices {
                report.users[user].lists[HeldList.samples.rawValue, default: .init()].isDoubledCut = true
            }
        }
        report.repairable =
            (again.values.map(\.count) + contested.values.map(\.count)).reduce(undecided, +)
        report.users.sort { $0.name < $1.name }
        step = .done
    }
}
