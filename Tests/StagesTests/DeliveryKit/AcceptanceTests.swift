import Changelog
import Configuration
import DeliveryKit
import HTTP
import HealthModel
import Protocol
import Simulation
import TestSupport
import Testing
import UploaderStage

/// What counts as delivered: only elements that a backend has provably accepted.
@Suite struct AcceptanceTests {
    private static let portal = "<!DOCTYPE html><html><body>Please log in</body></html>"

    private static let elsewhere: [(Int, String, String?)] = [
        (200, portal, "text/html"), (200, portal, nil), (200, "", nil), (204, "", nil), (200, "{}", "application/json"),
        (200, "OK", "text/plain"), (200, #"{"ok":true}"#, "text/html; charset=utf-8"),
        (
            200,
            #"{"generation":"generation-1","counts":{"created":0,"updated":0,"known":0,"refused":0},"refused":[]}"#, nil
        ),
        (200, #"{"generation":"generation-1","counts":{"created":3},"refused":[]}"#, nil),
        (200, #"{"generation":"generation-1","counts":{"created":1,"refused":1},"refused":[]}"#, nil),
        (
            200, #"{"generation":"generation-1","counts":{"created":9223372036854775807,"known":9223372036854775807}}"#,
            nil
        ),
        (200, #"{"generation":"generation-1","counts":{"created":-1,"known":3}}"#, nil),
        (200, #"{"generation":"generation-1","counts":{"created":1e300}}"#, nil),
        (200, #"{"generation":"generation-1","counts":{"created":99999999999999999999999}}"#, nil),
        (200, #"{"generation":"generation-1","counts":{"created":"2"}}"#, nil),
        (200, #"{"generation":"generation-1"}"#, nil), (200, #"{"counts":{"created":2}}"#, nil),
        (200, #"{"generation":"\u000Agenera","counts":{"created":2}}"#, nil),
        (400, portal, "text/html"), (422, portal, "text/html"), (400, "no", "text/plain"),
    ]

    /// The uploader already knows the backend that it delivers to.
    @Test(arguments: elsewhere.indices) func whatMayBeAnybodysAcceptsNothing(_ number: Int) throws {
        let (status, body, type) = Self.elsewhere[number]
        let rig = try UploaderRig()
        try rig.add(1...1)
        try rig.serve()
        try rig.add(2...3)
        for _ in 0..<6 {
            try rig.reply(status, body, type: type)
            #expect(try rig.frontier() == 1 && rig.detail("delivered") == ["daily": 1])
            #expect(try rig.detail("blocked").string != nil)
            try rig.rig.pass(.seconds(8))
            // The whole request is sent again unchanged, because no element in it was refused.
            #expect(try rig.dates(rig.request().request) == ["2025-03-12", "2025-03-13"])
        }
        #expect(try rig.alerts().contains("acceptance"))
        try rig.serve()
        #expect(try rig.frontier() == 3 && rig.letters().isEmpty && rig.alerts().isEmpty)
        #expect(try rig.delivered == 3 && rig.known("acceptance") == "proven")
    }

    @Test(
        arguments: [
            (200, portal, "text/html"), (200, portal, nil), (200, "OK", "text/plain"), (200, "{}", "text/html"),
            (200, #"{"counts":{"created":0,"known":0}}"#, nil), (302, "", nil),
            (200, #""login required""#, nil), (200, #"{"error":"unauthorized","status":500}"#, nil),
        ] as [(Int, String, String?)])
    func aPageForPeopleIsNoAcceptanceFromAnybody(_ status: Int, _ body: String, _ type: String?) throws {
        let rig = try UploaderRig()
        try rig.add(1...2)
        try rig.reply(status, body, type: type)
        #expect(try rig.frontier() == 0 && rig.detail("blocked").string != nil)
    }

    @Test(
        arguments: [
            (200, "", "text/html"), (204, "", nil), (200, " \n", nil), (200, "{}", "application/json"),
            (201, "[1]", nil),
            (202, #"{"status":"ok","generation":"x"}"#, nil), (200, #"{"counts":{"stored":0}}"#, nil),
            (200, #"{"counts":{"created":1,"known":1}}"#, nil), (200, #"{"refused":null}"#, nil),
            (200, #"{"error":null}"#, nil),
        ] as [(Int, String, String?)])
    func aPlainServerIsTakenOnTrust(_ status: Int, _ body: String, _ type: String?) throws {
        let rig = try UploaderRig()
        try rig.answerQuestion(.answered(status: 404, body: []))
        try rig.add(1...2)
        try rig.reply(status, body, type: type)
        #expect(try rig.frontier() == 2 && rig.detail("blocked").isNull)
        #expect(try rig.known("acceptance") == "trust" && rig.known("result") == "trust")
    }

    /// A backend that identifies itself only later may lack what an earlier server accepted.
    @Test func aBackendThatShowsItselfLaterGetsEverything() throws {
        let rig = try UploaderRig()
        try rig.answerQuestion(.answered(status: 404, body: []))
        try rig.add(1...2)
        try rig.reply(200)
        try rig.add(3...3)
        try rig.serve()
        #expect(try rig.frontier() == 3 && rig.delivered == 3 && rig.known("acceptance") == "proven")
    }

    @Test func whatIsKnownHoldsAtItsAddressOnly() throws {
        for isPlain in [false, true] {
            let rig = try UploaderRig(.init(address: "http://new"), first: "http://old")
            try rig.add(1...2)
            try rig.serve()
            #expect(rig.delivered == 2)
            try rig.rig.restart()
            if isPlain {
                try rig.answerQuestion(.answered(status: 404, body: []))
                try rig.add(3...3)
                try rig.reply(200)
                // What the other server accepted must not count as accepted by this one.
                #expect(try rig.frontier() == 0 && rig.known("acceptance") == "trust")
                try rig.answerPull()
                #expect(try rig.dates(rig.request().request).count == 3)
                try rig.reply(200)
                #expect(try rig.frontier() == 3 && rig.uploads.isEmpty)
            } else {
                // The same server under a different name.
                try rig.add(3...3)
                #expect(try rig.dates(rig.request().request) == ["2025-03-13"])
                try rig.serve()
                #expect(try rig.frontier() == 3 && rig.delivered == 3 && rig.known("acceptance") == "proven")
            }
            #expect(try rig.alerts().isEmpty)
        }
    }

    /// A destination that never identifies itself is known only by its address: a new address gets everything again,
    /// even if nothing new has happened.
    @Test func aNewPlaceWithoutAGenerationGetsEverything() throws {
        let old = DeliverySettings(address: "https://fhir.example/old")
        let new = DeliverySettings(address: "https://fhir.example/new")
        let rig = try UploaderRig(lives: [old, old, new, new])
        func start() throws {
            try rig.rig.restart()
            try rig.rig.reply(try #require(rig.questions.first), HoldingsReply.silent("it doesn't say"))
            try rig.rig.hear(beat("consolidator", head(2, store: "consolidator")))
            try rig.answerPull()
        }
        func accept() throws {
            let (effect, request) = try rig.request()
            #expect(try rig.dates(request) == [UploaderRig.date(1), UploaderRig.date(2)])
            try rig.rig.reply(effect, DeliveryReply.onTrust(.init(counts: .init(created: 2), status: 200)))
            #expect(try rig.frontier() == 2 && rig.detail("delivered") == ["daily": 2] && rig.uploads.isEmpty)
        }
        try rig.add(1...2)
        try accept()
        try start()
        #expect(try rig.uploads.isEmpty && rig.frontier() == 2, "it is the same place")
        try start()
        #expect(try rig.frontier() == 0 && rig.detail("delivered") == [:], "nothing has reached the new place")
        #expect(try rig.detail("address").string == new.address)
        try accept()
        try start()
        #expect(try rig.uploads.isEmpty && rig.frontier() == 2)
    }

    /// If a server refuses in its own format, one message says that its answer can't be understood, and the answer
    /// isn't treated as a success.
    @Test(
        arguments: [
            #"{"stored":1,"rejected":["2025-03-12"]}"#, #"{"ok":false}"#, #"[{"date":"2025-03-12","error":"odd"}]"#,
            #"{"counts":{"created":2,"failed":1}}"#, #"{"data":{"errors":{"2025-03-12":"odd"}}}"#,
        ])
    func failureInOtherWordsIsSaidOnceAndGoesAway(_ body: String) throws {
        let rig = try UploaderRig()
        try rig.answerQuestion(.answered(status: 404, body: []))
        try rig.add(1...2)
        for number in 1...5 {
            try rig.reply(200, body)
            #expect(try rig.frontier() == 0 && rig.alerts() == (number < 3 ? [] : ["acceptance"]))
            #expect(try rig.detail("blocked").string?.contains("can't be understood") == true)
            try rig.rig.pass(.seconds(20))
        }
        try rig.reply(200, #"{"errors":[],"rejected":0}"#)
        #expect(try rig.frontier() == 2 && rig.alerts().isEmpty && rig.letters().isEmpty)
    }

    /// Other faults in the answer are no reason to resend a bad element forever.
    @Test(
        arguments: [
            #"{"counts":{"created":7,"refused":1},"refused":["2025-03-12"]}"#,
            #"{"generation":"generation-1","counts":{"created":3},"refused":[{"id":"2025-03-12"}]}"#,
            #"{"error":"one is odd","refused":[{"id":"2025-03-12"}]}"#,
        ])
    func refusalsAreBelievedWhateverElseIsWrong(_ body: String) throws {
        for isKnown in [false, true] {
            let rig = try UploaderRig()
            if isKnown { try rig.answerQuestion() }
            try rig.add(1...3)
            try rig.reply(200, body)
            #expect(try rig.letters() == ["2025-03-12"] && rig.frontier() == 0)
            try rig.serve()
            #expect(try rig.frontier() == 3 && rig.delivered == 2 && rig.letters() == ["2025-03-12"])
        }
    }

    // MARK: Refusals

    @Test(
        arguments: [200, 400, 409, 413, 422],
        [
            #"{"refused":[{"id":"2025-03-12","reason":"odd"}]}"#, #"{"refused":["2025-03-12"]}"#,
            #"{"refused":[{"list":"days","index":1,"reason":"odd"}]}"#, #"{"refused":[{"index":1}]}"#,
        ])
    func whoNamesWhatItRefusesIsBelieved(_ status: Int, _ body: String) throws {
        for isKnown in [false, true] {
            let rig = try UploaderRig()
            if isKnown { try rig.answerQuestion() }
            try rig.add(1...3)
            try rig.reply(status, body)
            #expect(try rig.letters() == ["2025-03-12"])
            if isKnown || status >= 400 {
                // The other elements are sent again, because no answer has said that they were accepted.
                #expect(try rig.frontier() == 0)
                try rig.serve()
                #expect(rig.delivered == 2)
            }
            #expect(try rig.frontier() == 3)
        }
    }

    @Test func refusalsOfWhatWasNeverSentArePassedOverAndSaid() throws {
        let rig = try UploaderRig()
        try rig.add(1...3)
        try rig.reply(200, #"{"refused":[{"id":"2025-03-12"},{"id":"somebody-elses"},{"list":"days","index":9}]}"#)
        #expect(try rig.letters() == ["2025-03-12"] && rig.frontier() == 3)
        #expect(rig.rig.log.contains("refusal.unknown"))
        #expect(try rig.alerts() == ["refusals"])
    }

    /// Neither calls a database a backend, or advises a test that is only for backends.
    @Test(arguments: [#"{"refused":[{"id":"somebody-elses"},{"id":"2025-03-12"}]}"#, #"{"refused":3}"#])
    func alertsOfRefusalsCallADestinationWhatItIs(_ body: String) throws {
        func alerts(_ kind: DestinationDeclaration.Kind) throws -> String {
            let rig = try UploaderRig(.init(destination: .init(kind)))
            try rig.add(1...3)
            try rig.reply(200, body)
            let raised = try rig.rig.rows().filter { $0.key.hasPrefix("alert/degraded/") }.compactMap(\.value.body)
            return raised.map { "\($0["text"].string ?? "") \($0["remedy"].string ?? "")" }.joined()
        }
        let ofDatabase = try alerts(.database)
        #expect(ofDatabase.contains("The database") && !ofDatabase.contains("backend"), "\(ofDatabase)")
        let ofBackend = try alerts(.backend)
        #expect(
            ofBackend.contains("The backend")
                && ofBackend.hasSuffix(" 'healthbus backend test' tests your own server, case by case."))
    }

    @Test(arguments: [
        #"{"refused":"2025-03-12"}"#, #"{"refused":[7]}"#, #"{"refused":[{"key":"2025-03-12"}]}"#,
        #"{"refused":{"2025-03-12":"odd"}}"#, #"{"refused":3}"#, #"{"refused":true}"#,
    ]) func refusalsThatNobodyUnderstandsAcceptNothing(_ body: String) throws {
        for status in [200, 422] {
            let rig = try UploaderRig()
            try rig.add(1...3)
            try rig.reply(status, body)
            #expect(try rig.frontier() == 0 && rig.letters().isEmpty && rig.alerts() == ["refusals"])
            try rig.rig.pass(.seconds(8))
            #expect(try rig.dates(rig.request().request).count == 3)
            try rig.serve()
            #expect(try rig.frontier() == 3 && rig.delivered == 3 && rig.alerts().isEmpty)
        }
    }

    /// The answer's counts say that one element was refused, but its list doesn't say which.
    @Test func aRefusalThatNamesNobodyIsFoundInSmallerParts() throws {
        let rig = try UploaderRig()
        try rig.answerQuestion()
        try rig.add(1...4)
        try rig.serve { dates in
            guard dates.contains("2025-03-12") else { return nil }
            let body = """
                {"generation":"generation-1","counts":{"known":\(dates.count - 1),"refused":1},"refused":[{"id":"?","reason":"odd"}]}
                """
            return .answered(status: 200, body: Array(body.utf8))
        }
        #expect(try rig.letters() == ["2025-03-12"] && rig.frontier() == 4 && rig.delivered == 3)
    }

    // MARK: Retry-After

    @Test func aWaitIsShownByTheLocalClock() throws {
        let rig = try UploaderRig()
        try rig.answerQuestion()
        try rig.add(1...1)
        try rig.reply(429, retryAfter: "120")
        let until = InstantText.local(rig.rig.now + .seconds(120), now: rig.rig.now)
        #expect(try rig.detail("blocked") == .string("the backend answered 429; it asked to wait until \(until)"))
    }

    /// A web page for people isn't trusted, although a server that doesn't say what it holds is.
    @Test func whatIsntABackendIsntTrusted() throws {
        let rig = try UploaderRig()
        let page = UploadReply.answered(status: 200, contentType: "text/html", body: Array("<html>".utf8))
        try rig.answerQuestion(page)
        #expect(try rig.known("acceptance") == "trust")
        try rig.add(1...1)
        try rig.rig.reply(rig.request().effect, page)
        #expect(try rig.known("acceptance") == "unknown" && rig.detail("blocked").string != nil)
        try rig.rig.pass(.seconds(8))
        try rig.reply(204)
        #expect(try rig.known("acceptance") == "trust" && rig.detail("blocked").isNull)
    }

    /// A backend that fails is still the same backend.
    @Test func aFailingBackendIsntTakenForAnother() throws {
        let rig = try UploaderRig()
        try rig.answerQuestion()
        try rig.rig.pass(.seconds(3600))
        try rig.answerQuestion(.answered(status: 500, body: []))
        let why = try rig.known("why").string ?? ""
        #expect(why.contains("the backend answered 500") && !why.contains("isn't"), "\(why)")
    }

    /// Waits get longer without further log lines, so a long wait shows when it ends.
    @Test func theNextTryIsShown() throws {
        let rig = try UploaderRig()
        try rig.answerQuestion()
        try rig.add(1...1)
        var shown = 0
        for _ in 0..<30 {
            let lost = HTTPError(.timedOut, endpoint: "b", detail: "nothing came", hint: "wait")
            try rig.rig.reply(rig.request().effect, UploadReply.failed(lost))
            let isShown = try rig.detail("blocked").string?.contains("; next try at ") == true
            shown += isShown ? 1 : 0
            try rig.rig.pass(.seconds(5) - .microseconds(1))
            #expect(rig.uploads.isEmpty == isShown)
            if isShown { try rig.rig.pass(.seconds(4)) }
        }
        #expect(shown > 0 && shown < 30)
    }

    /// While the next request hangs, delivery waits for its answer, not because of the earlier fault.
    @Test func aHangReplacesTheReasonBeforeIt() throws {
        let rig = try UploaderRig()
        try rig.answerQuestion()
        try rig.add(1...1)
        try rig.reply(429, retryAfter: "7")
        try rig.rig.pass(.seconds(7))
        #expect(try rig.detail("blocked").string?.hasPrefix("the backend answered 429") == true)
        let sent = InstantText.local(rig.rig.now, now: rig.rig.now)
        try rig.rig.pass(.seconds(5))
        #expect(
            try rig.detail("blocked")
                == .string("no answer yet to the request sent at \(sent); before that: the backend answered 429"))
        try rig.serve()
        #expect(try rig.detail("blocked").isNull && rig.frontier() == 1)
    }

    @Test(arguments: [
        ("86400", "until"), ("999999999999999999999999", "forever"), ("Fri, 31 Dec 9999 23:59:59 GMT", "forever"),
    ])
    func aLongWaitIsCappedShownAndCutShort(_ header: String, _ words: String) throws {
        let rig = try UploaderRig()
        try rig.answerQuestion()
        try rig.add(1...1)
        try rig.reply(429, retryAfter: header)
        #expect(try rig.detail("waitsUntil").int == (rig.rig.now + .seconds(900)).microseconds)
        // The text shows both the requested wait and the chosen one.
        let shown = try #require(try rig.detail("blocked").string)
        // Either both times have a date, or neither has one.
        let other = words == "until" ? rig.rig.now + .seconds(86_400) : rig.rig.now
        let next = InstantText.local(rig.rig.now + .seconds(900), now: other)
        #expect(shown.contains("; it asked to wait \(words)"))
        #expect(shown.hasSuffix(", but is tried again at \(next) ('retryAfterCapSeconds')"))
        if words == "until" {
            let asked = InstantText.local(rig.rig.now + .seconds(86_400), now: rig.rig.now)
            #expect(shown.contains(" \(asked),"))
        }
        try rig.rig.pass(.seconds(899))
        #expect(rig.uploads.isEmpty)
        try rig.rig.pass(.seconds(1))
        try rig.reply(429, retryAfter: header)
        #expect(rig.uploads.isEmpty)
        // `sync` does this.
        try rig.rig.hear("control.uploader", ["command": "check", "id": "a", "send": true])
        try rig.serve()
        #expect(try rig.frontier() == 1 && rig.detail("waitsUntil").isNull)
    }
}
