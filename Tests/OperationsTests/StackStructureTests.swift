import Configuration
import Foundation
import HealthModel
import Inspection
import Testing

/// What is reported about a configuration that can be read, and still isn't right.
@Suite struct StackStructureTests {
    private func findings(_ overlay: String) throws -> [Finding] {
        let file = FileManager.default.temporaryDirectory.appending(path: "structure-\(UUID().uuidString).json")
        try overlay.write(to: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(at: file) }
        let catalog = try PluginCatalog(
            folder: GeneratedTable.checkout.appending(path: "plugins").path, programs: "/nowhere")
        return StackStructure(stack: try StackConfiguration(path: file.path, catalog: catalog)).findings
    }

    @Test func theShippedStackIsInOrder() throws { #expect(try findings("{}") == []) }

    @Test(arguments: [
        (#"{"instances": {"observer": null}}"#, Finding.Severity.error, "has no observer"),
        (#"{"instances": {"debouncer": null}}"#, .error, "has no debouncer"),
        (#"{"instances": {"consolidator": null}}"#, .warning, "has no consolidator"),
        (#"{"instances": {"uploader": null}}"#, .warning, "has no uploader"),
        (#"{"instances": {"hub": null}}"#, .error, "has no hub"),
        (#"{"instances": {"generic": null}}"#, .warning, "no handler for types that no other names"),
        (#"{"instances": {"backend": null}}"#, .error, "is needed"),
        (#"{"instances": {"walk": {"plugin": "steps"}}}"#, .error, "and so does steps"),
        (#"{"instances": {"rest": {"plugin": "generic"}}}"#, .error, "every type that nobody names"),
        (#"{"instances": {"consolidator": null}}"#, .warning, "produces figures.steps, which nobody"),
        (#"{"instances": {"debouncer": null}}"#, .warning, "consumes sync.steps, which nobody"),
        (
            #"{"instances": {"steps": {"configuration": {"sourceOrder": {"HKQuantityTypeIdentifierStepCont": []}}}}}"#,
            .warning, "isn't a type that this release knows"
        ),
        (#"{"monitoring": {"port": 8787}}"#, .error, "is the backend's port"),
        (
            #"{"instances": {"ingest": {"configuration": {"host": "0.0.0.0"}}}}"#, .error,
            "would listen at 0.0.0.0 without TLS, where anybody on the way reads the tokens"
        ),
        (
            #"{"instances": {"a": {"plugin": "files", "configuration": {"folder": "/x"}}, "b": {"plugin": "files", "configuration": {"folder": "/x/"}}}}"#,
            .warning, "delivers to the same place as a"
        ),
        (#"{"instances": {"second": {"plugin": "uploader"}}}"#, .warning, "delivers to the same place as second"),
        (
            #"{"instances": {"second": {"plugin": "uploader", "configuration": {"url": "https://h.example.org"}}}}"#,
            .error, "the token of the stack's own backend goes to no other"
        ),
        (#"{"instances": {"ingest": {"configuration": {"certificateFile": "/c"}}}}"#, .error, "without the other"),
        (#"{"instances": {"ingest": {"configuration": {"keyFile": "/k"}}}}"#, .error, "without the other"),
    ])
    func whatIsntInOrderIsTold(_ overlay: String, _ severity: Finding.Severity, _ words: String) throws {
        let list = try findings(overlay)
        #expect(list.contains { $0.severity == severity && $0.what.contains(words) }, "\(list)")
    }

    @Test func severalDestinationsAreInOrder() throws {
        let mine = #"{"plugin": "uploader", "configuration": {"url": "https://h.example.org", "tokenFile": "/t"}}"#
        #expect(try findings(#"{"instances": {"mine": \#(mine), "files": {"plugin": "files"}}}"#) == [])
        // Files need no backend.
        let files = #"{"instances": {"backend": null, "uploader": null, "files": {"plugin": "files"}}}"#
        #expect(try findings(files) == [])
    }

    @Test func whereAnIngestMayListenIsInOrder() throws {
        for options in [
            #"{"host": "::1"}"#, #"{"host": "0.0.0.0", "plainHTTP": true}"#,
            #"{"host": "0.0.0.0", "certificateFile": "/c", "keyFile": "/k"}"#,
        ] {
            #expect(try findings(#"{"instances": {"ingest": {"configuration": \#(options)}}}"#) == [], "\(options)")
        }
        #expect(try findings(#"{"instances": {"ingest": null}}"#) == [])
    }

    /// An instance has the topics of its own name, whatever its plugin is called.
    @Test func anInstanceOfAnotherNameIsInOrder() throws {
        #expect(try findings(#"{"instances": {"steps": null, "walk": {"plugin": "steps"}}}"#) == [])
        #expect(try findings(#"{"instances": {"steps": {"plugin": "steps-python"}}}"#) == [])
        let order = #"{"sourceOrder": {"HKQuantityTypeIdentifierStepCount": ["Watch"]}}"#
        #expect(try findings(#"{"instances": {"steps": {"configuration": \#(order)}}}"#) == [])
    }
}
