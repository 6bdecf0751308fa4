import DeliveryKit
import HTTP
import HealthModel
import Simulation
import StageKit
import TestSupport
import Testing
import UploaderStage

/// Whether the backend still has what it accepted.
@Suite struct BackendComparisonTests {
    private func holdings(_ generation: String = "generation-1", created: String, alive: String, sequence: String = "1")
        -> UploadReply
    {
        let body = """
            {"generation":"\(generation)","sequence":\(sequence),"samples":{"alive":0,"deleted":0},
             "days":{"alive":\(alive),"deleted":0},"counters":{"created":\(created)}}
            """
        return .answered(status: 200, body: Array(body.utf8))
    }

    private func answer(_ generation: String, _ count: Int, sequence: Int) -> UploadReply {
        let body = #"{"generation":"\#(generation)","sequence":\#(sequence),"counts":{"known":\#(count)},"refused":[]}"#
        return .answered(status: 200, body: Array(body.utf8))
    }

    /// Three days that were delivered and compared.
    private func delivered(_ settings: DeliverySettings = .init()) throws -> UploaderRig {
        let rig = try UploaderRig(settings)
        try rig.add(1...3)
        try rig.serve()
        #expect(try rig.frontier() == 3 && rig.known("result") == "complete" && rig.known("isCompared") == true)
        return rig
    }

    @Test func itIsComparedAtEachStartAndEachHour() throws {
        let rig = try delivered()
        try rig.rig.pass(.seconds(3599))
        #expect(rig.questions.isEmpty)
        try rig.rig.pass(.seconds(1))
        try rig.answerQuestion()
        #expect(try rig.known("compared").int == rig.rig.now.microseconds)
        try rig.rig.restart()
        #expect(try rig.known("isCompared") == false && rig.known("compared").int == rig.rig.now.microseconds)
        try rig.answerQuestion()
        #expect(try rig.known("isCompared") == true && rig.uploads.isEmpty && rig.frontier() == 3)
    }

    @Test func rowsAreCountedAtEachStartAndEachHour() throws {
        let rig = try UploaderRig()
        func counts() throws -> Bool {
            let request = try #require(rig.questions.first?.request as? HoldingsRequest)
            #expect(request.query == (request.countsRows ? ["count": "rows"] : [:]))
            return request.countsRows
        }
        #expect(try counts())
        // This lasts until the backend answers.
        try rig.answerQuestion(.answered(status: 503, body: []))
        try rig.rig.pass(.seconds(1))
        #expect(try counts())
        try rig.answerQuestion()
        // A person asks.
        try rig.rig.hear("control.uploader", ["command": "check", "id": "a"])
        #expect(try counts())
        try rig.answerQuestion()
        try rig.rig.pass(.seconds(3600))
        #expect(try counts())
        try rig.answerQuestion()
        try rig.rig.restart()
        #expect(try counts())
    }

    /// A backend that keeps losing what it accepted isn't mistaken for several backends.
    @Test func whoLosesItAgainIsNamedForThat() throws {
        let rig = try delivered()
        for _ in 0..<4 {
            try rig.rig.hear("control.uploader", ["command": "check", "id": .string("\(Int.random(in: 0..<Int.max))")])
            try rig.answerQuestion(holdings(created: "0", alive: "0", sequence: "0"))
            try rig.answerPull()
            for _ in 0..<3 where !rig.uploads.isEmpty {
                let (effect, request) = try rig.request()
                try rig.rig.reply(effect, answer("generation-1", try rig.dates(request).count, sequence: 1))
            }
            for question in rig.questions { try rig.rig.reply(question, holdings(created: "3", alive: "3")) }
        }
        let why = try #require(try rig.known("why").string)
        let next = InstantText.local(rig.rig.now + .seconds(600), now: rig.rig.now)
        #expect(
            why
                == "the backend once more lacks some of what it accepted; everything was delivered to it again 3 times lately, "
                + "and will be again from \(next) on")
        // A person needn't wait for that; but each `sync` delivers everything only once.
        let lacking = holdings(created: "0", alive: "0", sequence: "0")
        try rig.rig.hear("control.uploader", ["command": "check", "id": "sync", "send": true])
        try rig.answerQuestion(lacking)
        #expect(try rig.frontier() == 0 && rig.known("why").isNull)
        try rig.serve()
        #expect(try rig.frontier() == 3)
        try rig.rig.hear("control.uploader", ["command": "check", "id": "later"])
        try rig.answerQuestion(lacking)
        #expect(try rig.frontier() == 3 && rig.known("why").string?.contains("once more lacks") == true)
        // Once it has kept everything for an hour, the alert is cleared.
        #expect(try rig.alerts().contains("alternating"))
        try rig.rig.pass(.seconds(60))
        try rig.answerQuestion(holdings(created: "3", alive: "3"))
        try rig.rig.pass(.seconds(3600))
        try rig.answerQuestion(holdings(created: "3", alive: "3"))
        #expect(try !rig.alerts().contains("alternating"))
    }

    @Test func itIsComparedWhenSomebodyAsks() throws {
        let rig = try delivered()
        try rig.rig.hear("control.uploader", ["command": "check", "id": "a"])
        try rig.rig.hear("control.uploader", ["command": "check", "id": "a"])
        #expect(try rig.questions.count == 1 && rig.known("check").isNull)
        try rig.answerQuestion()
        #expect(try rig.known("check") == "a" && rig.questions.isEmpty)
        // The reason why it can't be compared is reported too.
        try rig.rig.hear("control.uploader", ["command": "check", "id": "b"])
        try rig.answerQuestion(
            .failed(HTTPError(.connectionRefused, endpoint: "b", detail: "no connection", hint: "start it")))
        #expect(try rig.known("check") == "b" && rig.known("why").string?.contains("no connection") == true)
        #expect(try rig.known("result") == "complete")
        try rig.rig.pass(.seconds(1))
        try rig.answerQuestion()
        #expect(try rig.known("why").isNull)
    }

    /// The question was sent before a person asked for a check, so its answer may be out of date.
    @Test func aQuestionUnderWayIsNoAnswerToALaterOne() throws {
        let rig = try UploaderRig()
        try rig.rig.hear("control.uploader", ["command": "check", "id": "a"])
        try rig.answerQuestion()
        #expect(try rig.known("check").isNull)
        try rig.answerQuestion()
        #expect(try rig.known("check") == "a")
    }

    @Test(arguments: ["created", "kept", "sequence", "generation"])
    func whatIsMissingIsDeliveredAgain(_ what: String) throws {
        let rig = try delivered()
        try rig.rig.restart()
        try rig.add(3...3)
        let reply =
            switch what {
            case "created": holdings(created: "2", alive: "3")
            case "kept": holdings(created: "3", alive: "1")
            case "sequence": holdings(created: "3", alive: "3", sequence: "0")
            default: holdings("another", created: "0", alive: "0", sequence: "0")
            }
        if what == "generation" { rig.backend.replace(by: 2) }
        try rig.answerQuestion(what == "generation" ? rig.backend.holdings : reply)
        #expect(try rig.frontier() == 0 && rig.known("result") == "redelivered" && rig.alerts() == ["backend"])
        #expect(rig.rig.log.contains(what == "generation" ? "backend.changed" : "backend.lacks"))
        #expect(try rig.known("isCompared") == false)
        try rig.answerPull()
        #expect(try rig.dates(rig.request().request).count == 3)
        try rig.accept()
        // Once everything is there, the backend is compared again, and all is well.
        #expect(try rig.frontier() == 3)
        try rig.serve()
        #expect(try rig.known("result") == "complete" && rig.alerts().isEmpty && rig.uploads.isEmpty)
        #expect(try rig.known("isCompared") == true)
    }

    /// The backend has what it had when the redelivery began, but not yet the rest.
    @Test func aRestartDoesNotEndARedelivery() throws {
        let rig = try delivered()
        try rig.rig.restart()
        try rig.answerQuestion(holdings(created: "2", alive: "2"))
        for _ in 0..<2 {
            try rig.rig.restart()
            try rig.answerQuestion(holdings(created: "2", alive: "2"))
            #expect(try rig.known("result") == "redelivered" && rig.alerts() == ["backend"])
            #expect(try rig.known("isCompared") == false)
        }
        try rig.add(3...3)
        try rig.serve()
        #expect(try rig.frontier() == 3 && rig.known("result") == "complete" && rig.alerts().isEmpty)
        #expect(try rig.known("isCompared") == true)
    }

    /// A backend that answers correctly but stores nothing: what it held before the delivery proves nothing.
    @Test func whatWasDeliveredIsComparedToo() throws {
        let rig = try UploaderRig()
        try rig.add(1...3)
        try rig.answerQuestion(holdings(created: "0", alive: "0", sequence: "0"))
        try rig.reply(200, #"{"generation":"generation-1","sequence":1,"counts":{"created":3},"refused":[]}"#)
        #expect(try rig.frontier() == 3 && rig.known("isCompared") == false)
        try rig.answerQuestion(holdings(created: "0", alive: "0"))
        #expect(try rig.frontier() == 0 && rig.known("result") == "redelivered")
        try rig.answerPull()
        try rig.serve()
        #expect(try rig.frontier() == 3 && rig.delivered == 3)
    }

    /// During a steady stream, not every delivery is followed by a question.
    @Test func deliveriesAreComparedNotTooOften() throws {
        let rig = try delivered()
        var questions = 0
        for number in Int64(4)...63 {
            try rig.add(number...number)
            try rig.accept()
            questions += rig.questions.count
            if !rig.questions.isEmpty { try rig.answerQuestion() }
            try rig.rig.pass(.seconds(1))
        }
        #expect((1...8).contains(questions))
    }

    @Test func anAnswerReportsAnOlderCopyToo() throws {
        let rig = try delivered()
        try rig.add(4...4)
        try rig.rig.reply(rig.request().effect, answer("generation-1", 1, sequence: 5))
        try rig.add(5...5)
        #expect(try rig.request().request.seenField == "generation-1 5")
        try rig.rig.reply(rig.request().effect, answer("generation-1", 1, sequence: 4))
        #expect(try rig.frontier() == 0 && rig.alerts() == ["backend"])
    }

    @Test func answersOutOfOrderAreNoOlderCopy() throws {
        let rig = try delivered()
        try rig.add(4...4)
        try rig.add(5...5)
        #expect(rig.uploads.count == 2)
        let (first, second) = (rig.uploads[0], rig.uploads[1])
        try rig.rig.reply(second, answer("generation-1", 1, sequence: 9))
        try rig.rig.reply(first, answer("generation-1", 1, sequence: 8))
        #expect(try rig.frontier() == 5 && rig.alerts().isEmpty)
    }

    /// The backend answered the question before it received a request, but the answers arrived in the other order.
    @Test func aLateAnswerIsComparedWithWhatWasKnownThen() throws {
        let rig = try delivered()
        try rig.rig.hear("control.uploader", ["command": "check", "id": "a"])
        let before = rig.backend.holdings
        try rig.add(4...6)
        try rig.accept()
        try rig.answerQuestion(before)
        #expect(try rig.frontier() == 6 && rig.known("result") == "complete")
    }

    @Test(arguments: [
        ("9223372036854775807", "9223372036854775807"), ("-1", "3"), ("1e300", "3"), ("3", "-9223372036854775808"),
    ]) func absurdHoldingsAreNobodys(_ created: String, _ alive: String) throws {
        let rig = try delivered()
        try rig.rig.restart()
        let twice =
            #"{"generation":"generation-1","days":{"alive":\#(alive),"deleted":\#(alive)},"counters":{"created":\#(created)}}"#
        try rig.answerQuestion(.answered(status: 200, body: Array(twice.utf8)))
        #expect(try rig.known("isCompared") == false && rig.known("why").string != nil && rig.frontier() == 3)
    }

    @Test func aSequenceAtItsEndCrashesNothing() throws {
        let rig = try delivered()
        try rig.add(4...4)
        try rig.rig.reply(rig.request().effect, answer("generation-1", 1, sequence: .max))
        #expect(try rig.frontier() == 4)
        try rig.rig.restart()
        try rig.answerQuestion(holdings(created: "4", alive: "4", sequence: "\(Int64.max)"))
        #expect(try rig.known("isCompared") == true)
    }

    // MARK: More than one backend

    @Test func backendsInTurnAreFaultyAndEndNothing() throws {
        let rig = try delivered()
        var rewinds = 0
        for number in 0..<60 {
            if rig.uploads.isEmpty { try rig.add((4 + Int64(number))...(4 + Int64(number))) }
            for question in rig.questions { try rig.rig.reply(question, rig.backend.holdings) }
            guard !rig.uploads.isEmpty else {
                try rig.rig.pass(.seconds(8))
                continue
            }
            let (effect, request) = try rig.request()
            let before = try rig.frontier()
            let count = try rig.dates(request).count
            try rig.rig.reply(
                effect, answer(number.isMultiple(of: 2) ? "b" : "generation-1", count, sequence: 100 + number))
            if try rig.frontier() == 0, before != 0 { rewinds += 1 }
            try rig.answerPull()
        }
        #expect(rewinds <= 1)
        #expect(try rig.alerts().contains("alternating"))
    }

    @Test func aBackendWithAnotherDatabaseEachTimeIsFaulty() throws {
        let rig = try delivered()
        try rig.add(4...4)
        for number in 0..<40 {
            if !rig.uploads.isEmpty {
                let (effect, request) = try rig.request()
                try rig.rig.reply(effect, answer("g\(number)", try rig.dates(request).count, sequence: 1))
                try rig.answerPull()
            } else {
                try rig.rig.pass(.seconds(8))
            }
        }
        #expect(try rig.alerts().contains("alternating") && rig.frontier() == 0)
        #expect(rig.rig.log.count("backend.changed") == 3)
    }

    /// The previous database is restored, and remains in use.
    @Test func aBackendThatIsPutBackIsBelievedAfterAMinute() throws {
        let rig = try delivered()
        let old = rig.backend
        rig.backend.replace(by: 2)
        try rig.add(4...4)
        try rig.serve()
        #expect(try rig.frontier() == 4 && rig.delivered == 4)
        rig.backend = old
        try rig.add(5...5)
        for _ in 0..<30 {
            try rig.serve()
            try rig.rig.pass(.seconds(8))
        }
        #expect(try rig.frontier() == 5 && rig.delivered == 5)
    }

    // MARK: Until then

    @Test func aPlainServerIsSoon() throws {
        let rig = try UploaderRig()
        try rig.answerQuestion(.answered(status: 404, body: []))
        #expect(try rig.known("isCompared") == true && rig.known("result") == "trust")
    }

    @Test func aRefusedTokenIsReadAgain() throws {
        let rig = try delivered()
        try rig.rig.restart()
        try rig.answerQuestion(.answered(status: 401, body: []))
        let again = try #require(rig.questions.first?.request as? HoldingsRequest)
        #expect(again.refreshToken)
        try rig.answerQuestion(.answered(status: 401, body: []))
        #expect(try rig.questions.isEmpty && rig.known("why").string?.contains("token") == true)
        try rig.rig.pass(.seconds(30))
        try rig.answerQuestion()
        #expect(try rig.known("isCompared") == true)
    }
}
