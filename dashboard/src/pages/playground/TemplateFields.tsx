import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { errorWithin, type FieldErrors } from '../../request/Framed.tsx';
import type { Values } from '../../request/values.ts';
import { ActButton, ConfirmButton } from '../../ui/Dialog.tsx';
import { Button } from '../../ui/Button.tsx';
import { Code } from '../../ui/Code.tsx';
import { FailureNotice } from '../../ui/Page.tsx';
import { TextField } from '../../ui/forms.tsx';
import { useSending } from '../../ui/sending.ts';
import { HtmlEditor } from './HtmlEditor.tsx';
import { objectIn, type TemplateDraft } from './request.ts';
import { fill, NO_OBJECT, save } from './template.ts';
import { rich } from '../../words/rich.ts';
import { t } from '../../words/words.ts';

interface TemplateFieldsProps {
  readonly template: TemplateDraft;
  /** The body of the options that differ from their defaults. */
  readonly options: Values;
  readonly errors: FieldErrors;
  readonly onChange: (template: TemplateDraft) => void;
}

/** A template that is being written, with its data. */
export function TemplateFields(props: TemplateFieldsProps) {
  const { template, options, errors, onChange } = props;
  const { saved, html, data, schema } = template;
  const wrong = errorWithin(errors, 'html') ?? errorWithin(errors, 'template');
  const wrongData = objectIn(data) === undefined ? NO_OBJECT : errorWithin(errors, 'data');
  const isSchema = schema.trim() === '' || objectIn(schema) !== undefined;
  return (
    <div className="stack">
      <HtmlEditor html={html} onChange={(next) => onChange({ ...template, html: next })} />
      {wrong !== undefined && <p className="wrong">{wrong}</p>}
      <TextField
        label={t('Data')}
        hint={t('JSON. It is saved with the template, for previews.')}
        rows={8}
        mono
        value={data}
        error={wrongData}
        onChange={(next) => onChange({ ...template, data: next })}
      />
      <TextField
        label={t('Schema')}
        hint={t('JSON Schema of the data, if the service should say what is missing or wrong.')}
        rows={4}
        mono
        value={schema}
        error={isSchema ? errorWithin(errors, 'schema') : NO_OBJECT}
        onChange={(next) => onChange({ ...template, schema: next })}
      />
      <div className="line">
        {saved === undefined ? (
          <SaveAs template={template} options={options} onSaved={onChange} />
        ) : (
          <>
            <ActButton
              icon="check"
              act={async () => onChange(await save(template, options, saved.name))}
              done={t('The template is saved.')}
              failed={t('The template was not saved.')}
              after={async () => {}}
            >
              {t('Save')}
            </ActButton>
            <span className="note">
              {rich('Version {version} of {link}', {
                version: saved.version,
                link: (
                  <Link to="/templates/$id" params={{ id: saved.id }} search={{}} dir="auto">
                    {saved.name}
                  </Link>
                ),
              })}
            </span>
          </>
        )}
      </div>
      <Filled template={template} options={options} />
    </div>
  );
}

interface SaveAsProps extends Pick<TemplateFieldsProps, 'template' | 'options'> {
  readonly onSaved: (template: TemplateDraft) => void;
}

function SaveAs({ template, options, onSaved }: SaveAsProps) {
  return (
    <ConfirmButton
      text={t('Save as a template')}
      icon="check"
      title={t('Save as a template')}
      action={t('Save')}
      actionLook="primary"
      onConfirm={async (textOf) => {
        onSaved(await save(template, options, textOf('name')));
        return t('The template is saved. Programs can use it by its id.');
      }}
    >
      <TextField label={t('Name')} name="name" isRequired autoFocus maxLength={200} />
    </ConfirmButton>
  );
}

/** The HTML that the template makes of the data, which costs nothing to see. */
function Filled({ template, options }: Pick<TemplateFieldsProps, 'template' | 'options'>) {
  const [html, setHtml] = useState<string>();
  const { isPending, failure, send } = useSending();
  const show = () =>
    send(async () => {
      setHtml(undefined);
      setHtml(String((await fill(template, options))['html']));
    });
  return (
    <>
      <div>
        <Button small isPending={isPending} onPress={() => void show()}>
          {t('Show the filled HTML')}
        </Button>
      </div>
      {failure !== undefined && <FailureNotice error={failure} />}
      {html !== undefined && <Code code={html} copyLabel={t('Copy the HTML')} />}
    </>
  );
}
