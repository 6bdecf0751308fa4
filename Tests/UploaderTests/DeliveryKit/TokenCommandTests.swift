import DeliveryKit
import Foundation
import HealthModel
import Logging
import TestSupport
import Testing
import UploaderReading
import UploaderStage

@Suite(.inTurn) struct TokenCommandTests {
    @Test(arguments: [
        ("echo abc", "abc"), ("printf 'a.b-c\\n\\n'", "a.b-c"), ("cat; echo abc; sleep 100 &", "abc"),
    ])
    func whatItPrintsIsTheToken(_ script: String, _ token: String) throws {
        #expect(try TokenCommand(["/bin/sh", "-c", script]).token() == token)
    }

    /// A command may leave behind a program that keeps the command's output open: nothing waits for that program.
    @Test func aProgramThatItLeavesRunningHoldsUpNobody() throws {
        let source = TokenCommand(["/bin/sh", "-c", "echo abc; sleep 600 &"], timeout: 60)
        #expect(try source.token() == "abc")
    }

    @Test(
        arguments: [
            (["/bin/sh", "-c", "echo secret; exit 3"], "ended with exit code 3"),
            (["/bin/sh", "-c", "true"], "printed no token"),
            (["/bin/sh", "-c", "echo two words; echo and lines"], "printed no token"),
            (["/bin/sh", "-c", "echo secret; sleep 60"], "ran longer than 1 s"),
            (["/nowhere/secret-tool"], "can't start"), ([], "names no program"), (["secret-tool"], "names no program"),
        ] as [([String], String)])
    func whatFailsSaysSoWithoutWhatWasPrinted(_ words: [String], _ why: String) {
        do {
            _ = try TokenCommand(words, timeout: 1).token()
            Issue.record("it gave a token")
        } catch {
            #expect("\(error)".contains(why), "\(error)")
            #expect(!"\(error)".contains("echo") && !"\(error)".contains("secret\n"))
            #expect(!"\(error)".contains("two words"))
        }
    }

    @Test func itIsRunOnceAndAgainWhenTheTokenIsRefused() throws {
        let folder = try TemporaryFolder()
        let count = folder.path + "/count"
        let options: Value = [
            "tokenCommand": ["/bin/sh", "-c", .string("echo x >> \(count); echo token-$(wc -l < \(count))")],
            "tokenFile": "/nowhere",
        ]
        let source = TokenSource(options, file: "/nowhere", environment: nil)
        #expect(try source.current(refresh: false) == "token-1")
        #expect(try source.current(refresh: false) == "token-1")
        #expect(try source.current(refresh: true) == "token-2")
        #expect(try source.current(refresh: false) == "token-2")
        // The environment takes precedence over both.
        #expect(try TokenSource(options, file: "/nowhere", environment: "own").current(refresh: true) == "own")
    }

    @Test func aServerThatAsksForNoneGetsNone() throws {
        #expect(try TokenSource().current(refresh: false) == nil && TokenSource().current(refresh: true) == nil)
        #expect(throws: Failure.self) { try TokenSource(file: nil, environment: "").current(refresh: false) }
    }

    /// The message points to where the refused token is, not to a file that nobody reads.
    @Test func aRefusalLeadsToWhereTheTokenIs() {
        let options: Value = ["tokenCommand": ["/bin/true"]]
        for (source, words) in [
            (TokenSource(.null, file: "/some/file", environment: nil), "into /some/file"),
            (TokenSource(.null, file: "/some/file", environment: "e"), "in HEALTHBUS_BACKEND_TOKEN"),
            (TokenSource(options, file: "/some/file", environment: nil), "'tokenCommand'"),
            (TokenSource(), "\"token\": \"none\""),
        ] {
            let remedy = source.place.remedy
            #expect(remedy.contains(words), "\(remedy)")
            #expect(
                RetryPolicy.Outcome.answered(status: 403, tokenFrom: source.place)
                    == .refusesToken(isFinal: true, .init(remedy: remedy)))
        }
    }

    @Test func aRefusedTokenIsntUsedAgainWhenThereIsNoOther() throws {
        let folder = try TemporaryFolder()
        let file = try folder.file("token", "first\n")
        let source = TokenSource(.null, file: file, environment: nil)
        #expect(try source.current(refresh: false) == "first")
        try FileManager.default.removeItem(atPath: file)
        #expect(throws: Failure.self) { try source.current(refresh: true) }
        _ = try folder.file("token", "second\n")
        #expect(try source.current(refresh: false) == "second")
    }
}
